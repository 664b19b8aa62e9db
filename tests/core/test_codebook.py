"""The codebook: its faults, the keys of its categories, and what its fingerprint stands for."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from convolabel.codebook import CATEGORY_KEYS, RESERVED_KEYS, SHIPPED, assign_keys, read_codebook, shipped_codebook
from convolabel.errors import InputError


def book(categories: list[dict[str, Any]] | int = 2, **fields: Any) -> dict[str, Any]:
    if isinstance(categories, int):
        categories = [{"id": f"c{number}", "name": f"Name {number}"} for number in range(categories)]
    dimension = {"id": "intent", "title": "Intent", "categories": categories}
    return {"name": "demo", "title": "Demo", "dimensions": [dimension]} | fields


def read(tmp_path: Path, document: object) -> Any:
    path = tmp_path / "codebook.yaml"
    path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return read_codebook(path)


def refusal(tmp_path: Path, document: object) -> str:
    with pytest.raises(InputError) as caught:
        read(tmp_path, document)
    return str(caught.value).removeprefix(f"{tmp_path / 'codebook.yaml'}")


def pair(**fields: Any) -> list[dict[str, Any]]:
    return [{"id": "Q", "name": "Question"}, {"id": "R", "name": "Reflection"} | fields]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (book(titel="x"), ": unknown key `titel`; did you mean `title`?"),
        (book(pair(definiton="x")), ": unknown key `dimensions.0.categories.1.definiton`; did you mean `definition`?"),
        (
            book(pair(zzzzz="x")),
            ": unknown key `dimensions.0.categories.1.zzzzz`; known here: definition, examples, id, key, name.",
        ),
        (book(dimensions=[{"id": "a", "titel": "A"}]), "did you mean `title`?"),
        (book(pair(id="Q")), ": `dimensions.0`: the category id `Q` stands twice."),
        (book(pair(name="Question")), ": `dimensions.0`: the category name `Question` stands twice."),
        (book(pair(id="Unsure")), "`unsure` is reserved: every rater has it beside the categories."),
        (book(pair(name="unsure")), "`unsure` is reserved: every rater has it beside the categories."),
        (book(pair(id="a b")), "`dimensions.0.categories.1.id`: String should match pattern"),
        (book(1), "`dimensions.0.categories`: Tuple should have at least 2 items"),
        (book(dimensions=[]), "`dimensions`: Tuple should have at least 1 item"),
        (book(dimensions=book()["dimensions"] * 2), ": the dimension id `intent` stands twice."),
        ({"title": "x"}, ": the key `name` is missing.\n"),
        ([1], " must hold `key: value` lines, found list"),
        (None, " must hold `key: value` lines, found NoneType"),
    ],
)
def test_faults_are_named(tmp_path: Path, document: object, said: str) -> None:
    assert said in refusal(tmp_path, document)


def test_every_fault_comes_in_one_go(tmp_path: Path) -> None:
    said = refusal(
        tmp_path, {"nam": "x", "title": "T", "dimensions": [{"id": "a", "title": "A", "categories": pair(x=1)}]}
    )
    assert [line.split(": ", 1)[1].split("`")[1] for line in ("x" + said).splitlines()] == [
        "name",
        "dimensions.0.categories.1.x",
        "nam",
    ]


@pytest.mark.parametrize("key", sorted(RESERVED_KEYS))
def test_reserved_keys(tmp_path: Path, key: str) -> None:
    assert f"the key `{key}` is reserved (0 unsure, a accept, n note)" in refusal(tmp_path, book(pair(key=key)))


def test_a_key_stands_once(tmp_path: Path) -> None:
    document = book([{"id": "Q", "name": "Question", "key": "x"}, {"id": "R", "name": "Reflection", "key": "x"}])
    assert "the key in dimension `intent` `x` stands twice" in refusal(tmp_path, document)


def test_a_key_written_as_a_number_is_that_digit(tmp_path: Path) -> None:
    assert assign_keys(read(tmp_path, book(pair(key=7))).dimensions[0]) == {"Q": "1", "R": "7"}
    assert "key" in refusal(tmp_path, book(pair(key=12)))
    assert "key" in refusal(tmp_path, book(pair(key=True)))


def test_free_keys_go_to_the_others_in_order(tmp_path: Path) -> None:
    categories = [{"id": f"c{number}", "name": f"Name {number}"} for number in range(4)]
    categories[2]["key"] = "1"
    assert assign_keys(read(tmp_path, book(categories)).dimensions[0]) == {"c0": "2", "c1": "3", "c2": "1", "c3": "4"}


@pytest.mark.parametrize("count", [2, 9, 10, 14, 31, 32])
def test_every_category_has_a_key_of_its_own(tmp_path: Path, count: int) -> None:
    keys = assign_keys(read(tmp_path, book(count)).dimensions[0])
    assert list(keys.values()) == list(CATEGORY_KEYS[:count])
    assert not RESERVED_KEYS & set(keys.values())


def test_more_categories_than_keys(tmp_path: Path) -> None:
    assert len(CATEGORY_KEYS) == len(set(CATEGORY_KEYS)) == 32
    assert "at most 32 categories have a key" in refusal(tmp_path, book(33))


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Other"},
        {"name": "other"},
        {"dimensions": [book()["dimensions"][0] | {"question": "What?"}]},
        {"dimensions": [book()["dimensions"][0] | {"categories": book(3)["dimensions"][0]["categories"]}]},
        {"dimensions": [book()["dimensions"][0] | {"categories": book()["dimensions"][0]["categories"][::-1]}]},
    ],
)
def test_the_fingerprint_changes_with_what_is_read(tmp_path: Path, change: dict[str, Any]) -> None:
    before, after = read(tmp_path, book()), read(tmp_path, book(**change))
    assert before.fingerprint == read(tmp_path, dict(reversed(book().items()))).fingerprint
    assert before.fingerprint != after.fingerprint


@pytest.mark.parametrize("field", [{"definition": "d"}, {"examples": ["e"]}, {"key": "x"}, {"name": "n"}])
def test_the_fingerprint_changes_with_every_field_of_a_category(tmp_path: Path, field: dict[str, Any]) -> None:
    assert read(tmp_path, book(pair())).fingerprint != read(tmp_path, book(pair(**field))).fingerprint


def test_choices_are_the_categories_and_unsure(tmp_path: Path) -> None:
    dimension = read(tmp_path, book(pair())).dimension("intent")
    assert dimension.choices == ("Q", "R", "unsure")
    assert dimension.category("R").name == "Reflection"
    assert dimension.category("unsure") is None
    assert read(tmp_path, book()).dimension("form") is None


def test_shipped_codebooks_are_valid() -> None:
    for name in SHIPPED:
        codebook = shipped_codebook(name)
        assert codebook.name == name
        for dimension in codebook.dimensions:
            assert all(category.definition and category.examples for category in dimension.categories)
    with pytest.raises(InputError, match=r"No codebook named `vrm` is shipped; known: vrm-intent"):
        shipped_codebook("vrm")


def test_files_that_are_no_yaml(tmp_path: Path) -> None:
    path = tmp_path / "codebook.yaml"
    path.write_text("name: [\ntitle: x", encoding="utf-8")
    with pytest.raises(InputError, match=r"not valid YAML at line 2, column 9"):
        read_codebook(path)
    path.write_bytes(b"name: \xff")
    with pytest.raises(InputError, match="not UTF-8"):
        read_codebook(path)
    with pytest.raises(InputError, match="No such file"):
        read_codebook(tmp_path / "other.yaml")
