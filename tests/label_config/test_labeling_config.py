"""The labeling config is what Label Studio's own parser reads, for one dimension, two, and many categories."""

from typing import Any
from xml.etree import ElementTree

import pytest

from convolabel import Codebook, shipped_codebook
from label_config.labeling_config import labeling_config

HOSTILE = """</View><script>alert("1 & 'x'")</script>"""


def codebook(*sizes: int, definition: str = "") -> Codebook:
    dimensions = [
        {
            "id": f"d{number}",
            "title": f"Dimension {number}",
            "categories": [
                {"id": f"C{index}", "name": f"Category {index}", "definition": definition} for index in range(size)
            ],
        }
        for number, size in enumerate(sizes)
    ]
    return Codebook.model_validate({"name": "test", "title": "Test", "dimensions": dimensions})


def parsed(book: Codebook) -> dict[str, Any]:
    """By the parser that Label Studio's server and SDK use."""
    label_config = pytest.importorskip("label_studio_sdk._extensions.label_studio_tools.core.label_config")
    found: dict[str, Any] = label_config.parse_config(labeling_config(book))
    return found


def hotkeys(book: Codebook) -> list[str]:
    root = ElementTree.fromstring(labeling_config(book))
    return [choice.attrib["hotkey"] for choice in root.iter("Choice") if "hotkey" in choice.attrib]


@pytest.mark.parametrize("sizes", [(2,), (14,), (9, 3)])
def test_label_studios_parser_finds_every_control(sizes: tuple[int, ...]) -> None:
    tags = parsed(codebook(*sizes))
    kinds = {name: tag["type"] for name, tag in tags.items()}
    assert kinds == {"unit": "ParagraphLabels", "note": "TextArea"} | {
        f"d{number}": "Choices" for number in range(len(sizes))
    }
    for number, size in enumerate(sizes):
        # what is stored is the alias: the category's id, and `unsure`
        assert tags[f"d{number}"]["labels"] == [*(f"C{index}" for index in range(size)), "unsure"]
        assert tags[f"d{number}"]["inputs"] == [{"type": "Paragraphs", "valueType": None, "value": "messages"}]


def test_fourteen_categories_have_a_key_each() -> None:
    keys = hotkeys(codebook(14))
    assert len(keys) == len(set(keys)) == 15  # 14 and unsure
    # 1 to 9, then letters of the top row from the left; 0 is unsure
    assert keys == [*"123456789", *"qwert", "0"]


def test_keys_of_two_dimensions_never_clash() -> None:
    keys = hotkeys(codebook(3, 5))
    # the second dimension keeps what the first left over: 4 and 5
    assert keys == ["1", "2", "3", "0", "4", "5"]


def test_every_dimension_is_required_per_region_and_single() -> None:
    root = ElementTree.fromstring(labeling_config(codebook(2, 2)))
    for choices in root.iter("Choices"):
        said = {name: choices.attrib[name] for name in ("perRegion", "choice", "required", "toName")}
        assert said == {"perRegion": "true", "choice": "single", "required": "true", "toName": "conversation"}


def test_units_cannot_be_drawn_and_text_is_not_copied_into_results() -> None:
    root = ElementTree.fromstring(labeling_config(codebook(2)))
    (label,) = root.iter("Label")
    assert label.attrib["maxUsages"] == "1"
    (paragraphs,) = root.iter("Paragraphs")
    assert "savetextresult" not in {name.lower() for name in paragraphs.attrib}


def test_hostile_text_stays_text() -> None:
    root = ElementTree.fromstring(labeling_config(codebook(2, definition=HOSTILE)))
    assert [choice.attrib["hint"] for choice in root.iter("Choice")][:2] == [HOSTILE, HOSTILE]
    assert list(root.iter("script")) == []


def test_the_same_codebook_gives_the_same_bytes() -> None:
    assert labeling_config(shipped_codebook("vrm-intent")) == labeling_config(shipped_codebook("vrm-intent"))
    assert parsed(shipped_codebook("vrm-intent"))["intent"]["labels"][-1] == "unsure"
