"""The labeling config (XML) of a study, built from its codebook (design, section 5).

The same config serves both interfaces: the plugin's page mounts in the empty `convolabel-mount` view; without the
plugin Label Studio's own tags show frozen units, take categories by hotkey and block an unfinished submit.
"""

from xml.etree import ElementTree

from convolabel.codebook import Codebook, Dimension, assign_keys
from convolabel.native_regions import CONVERSATION, NOTE, UNIT
from convolabel.units import UNSURE

MOUNT_CLASS = "convolabel-mount"
STOCK_CLASS = "convolabel-stock"
STYLE = """
.convolabel-stock { display: flex; gap: 24px; align-items: flex-start; }
.convolabel-text { flex: 1 1 auto; min-width: 0; }
.convolabel-answers { flex: 0 0 360px; position: sticky; top: 0; max-height: calc(100vh - 130px); overflow-y: auto; }
.convolabel-text [class*="dialoguetext--"] { white-space: pre-wrap; }
.convolabel-text [class*="time--"], .convolabel-text [class*="selectAllBtnWrapper--"] { display: none; }
.convolabel-text .lsf-labels { display: none; }
"""
"""The stock interface: text left, answers beside it in view, white space as it is, no clock that knows nothing."""
UNSURE_KEY = "0"
NOTE_KEY = "ctrl+i"


def labeling_config(codebook: Codebook) -> str:
    """The labeling config as XML text. Deterministic: the same codebook gives the same bytes."""
    root = ElementTree.Element("View", className="convolabel")
    ElementTree.SubElement(root, "View", className=MOUNT_CLASS)
    ElementTree.SubElement(root, "Style").text = STYLE
    stock = ElementTree.SubElement(root, "View", className=STOCK_CLASS)
    text = ElementTree.SubElement(stock, "View", className="convolabel-text")
    ElementTree.SubElement(
        text, "Paragraphs", name=CONVERSATION, value="$messages", layout="dialogue", nameKey="author", textKey="text"
    )
    units = ElementTree.SubElement(text, "ParagraphLabels", name=UNIT, toName=CONVERSATION)
    # maxUsages stops a rater from drawing spans: every task arrives with its units
    ElementTree.SubElement(units, "Label", value=UNIT, maxUsages="1", background="#9bb7ff")
    answers = ElementTree.SubElement(stock, "View", className="convolabel-answers")
    taken: set[str] = set()
    for dimension in codebook.dimensions:
        _choices(answers, dimension, taken)
    ElementTree.SubElement(answers, "Header", value="Note", size="5")
    ElementTree.SubElement(
        answers,
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
