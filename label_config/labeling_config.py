"""The labeling config (XML) of a study, built from its codebook (design, section 5).

The same config serves both interfaces: the plugin's page mounts in the empty `convolabel-mount` view; without the
plugin Label Studio's own tags show frozen units, take categories by hotkey and block an unfinished submit.
"""

from xml.etree import ElementTree

from convolabel.codebook import Codebook, Dimension, assign_keys
from convolabel.native_regions import CONVERSATION, NOTE, UNIT
from convolabel.units import UNSURE

MOUNT_CLASS = "convolabel-mount"
UNSURE_KEY = "0"
NOTE_KEY = "ctrl+i"


def labeling_config(codebook: Codebook) -> str:
    """The labeling config as XML text. Deterministic: the same codebook gives the same bytes."""
    root = ElementTree.Element("View", className="convolabel")
    ElementTree.SubElement(root, "View", className=MOUNT_CLASS)
    stock = ElementTree.SubElement(root, "View", className="convolabel-stock")
    ElementTree.SubElement(
        stock, "Paragraphs", name=CONVERSATION, value="$messages", layout="dialogue", nameKey="author", textKey="text"
    )
    units = ElementTree.SubElement(stock, "ParagraphLabels", name=UNIT, toName=CONVERSATION)
    # maxUsages stops a rater from drawing spans: every task arrives with its units
    ElementTree.SubElement(units, "Label", value=UNIT, maxUsages="1", background="#9bb7ff")
    taken: set[str] = set()
    for dimension in codebook.dimensions:
        _choices(stock, dimension, taken)
    ElementTree.SubElement(stock, "Header", value="Note", size="5")
    ElementTree.SubElement(
        stock,
        "TextArea",
        name=NOTE,
        toName=CONVERSATION,
        perRegion="true",
        editable="true",
        maxSubmissions="1",
        rows="2",
        placeholder="Note on this unit",
    )
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def _choices(parent: ElementTree.Element, dimension: Dimension, taken: set[str]) -> None:
    ElementTree.SubElement(parent, "Header", value=dimension.question or dimension.title, size="5")
    choices = ElementTree.SubElement(
        parent,
        "Choices",
        name=dimension.id,
        toName=CONVERSATION,
        perRegion="true",
        choice="single",
        showInline="true",
        required="true",
        requiredMessage=f"{dimension.title}: every unit needs a category or unsure",
    )
    keys = assign_keys(dimension)
    options = [
        (category.id, category.name, category.definition, keys[category.id]) for category in dimension.categories
    ]
    for value, name, hint, key in [*options, (UNSURE, "Unsure", "You cannot decide", UNSURE_KEY)]:
        attributes = {"value": name, "alias": value}
        if hint:
            attributes["hint"] = hint
        # Label Studio's hotkeys are global; the stock interface can serve a key of one dimension only
        if key not in taken:
            attributes["hotkey"] = key
            taken.add(key)
        ElementTree.SubElement(choices, "Choice", attributes)
