"""The codebook: one or more dimensions, each a set of categories (docs/manager.md)."""

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from convolabel.errors import InputError
from convolabel.settings_file import read_yaml, validate
from convolabel.units import UNSURE

CATEGORY_KEYS = "123456789qwertyuiopsdfghjklzxcvb"
"""Keys in the order in which categories get them. `0` is unsure, `a` accepts a suggestion, `n` opens the note."""
RESERVED_KEYS = frozenset("0an")
RESERVED_DIMENSIONS = frozenset({"conversation", "unit", "note"})
"""Names that tags of the labeling config already bear."""
SHIPPED = {"vrm-intent": "codebook.yaml"}
"""Codebooks that come with convolabel, by name."""

Ident = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_+-]{0,31}$")]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
# `key: 3` is a number to YAML
Key = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    StringConstraints(pattern=r"^[a-z0-9]$"),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Category(_Strict):
    id: Ident
    name: Text
    definition: str = ""
    examples: tuple[Text, ...] = ()
    key: Key | None = None


class Dimension(_Strict):
    """One question asked of every unit; exactly one category (or unsure) answers it."""

    id: Ident
    title: Text
    question: str = ""
    categories: Annotated[tuple[Category, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if self.id in RESERVED_DIMENSIONS:
            raise ValueError(f"a dimension cannot be called `{self.id}`: the labeling config uses that name")
        _refuse_repeats("category id", [category.id for category in self.categories])
        # Label Studio compares the names it shows, so two categories must not share one
        _refuse_repeats("category name", [category.name for category in self.categories])
        if any(category.id.lower() == UNSURE or category.name.lower() == UNSURE for category in self.categories):
            raise ValueError(f"`{UNSURE}` is reserved: every rater has it beside the categories")
        return self

    def category(self, category_id: str) -> Category | None:
        return next((category for category in self.categories if category.id == category_id), None)

    @property
    def choices(self) -> tuple[str, ...]:
        """Every value a rater can give: the category ids, then unsure."""
        return (*(category.id for category in self.categories), UNSURE)


class Codebook(_Strict):
    name: Ident
    title: Text
    dimensions: Annotated[tuple[Dimension, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        _refuse_repeats("dimension id", [dimension.id for dimension in self.dimensions])
        for dimension in self.dimensions:
            keys = list(assign_keys(dimension).values())
            _refuse_repeats(f"key in dimension `{dimension.id}`", keys)
        return self

    def dimension(self, dimension_id: str) -> Dimension | None:
        return next((dimension for dimension in self.dimensions if dimension.id == dimension_id), None)

    @property
    def fingerprint(self) -> str:
        """Changes whenever anything a rater or a model reads in the codebook changes."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def assign_keys(dimension: Dimension) -> dict[str, str]:
    """Category id -> key. Categories keep a key of their own; the others take the free ones in order.

    Raises `ValueError` for a reserved key, or when there are more categories than keys.
    """
    fixed = {category.id: category.key for category in dimension.categories if category.key}
    reserved = sorted(RESERVED_KEYS & set(fixed.values()))
    if reserved:
        raise ValueError(f"the key `{reserved[0]}` is reserved (0 unsure, a accept, n note)")
    free = iter(key for key in CATEGORY_KEYS if key not in fixed.values())
    try:
        return {category.id: fixed.get(category.id) or next(free) for category in dimension.categories}
    except StopIteration:
        raise ValueError(f"at most {len(CATEGORY_KEYS)} categories have a key; this dimension has more") from None


def read_codebook(path: Path) -> Codebook:
    """Read a codebook file. Raises `InputError` naming every fault."""
    return validate(Codebook, read_yaml(path), str(path))


def shipped_codebook(name: str) -> Codebook:
    """A codebook that comes with convolabel. Raises `InputError` for an unknown name."""
    if name not in SHIPPED:
        raise InputError(f"No codebook named `{name}` is shipped; known: {', '.join(SHIPPED)}.")
    with resources.as_file(resources.files("convolabel") / "sample" / SHIPPED[name]) as path:
        return read_codebook(path)


def _refuse_repeats(what: str, values: list[str]) -> None:
    repeated = sorted({value for value in values if values.count(value) > 1})
    if repeated:
        raise ValueError(f"the {what} `{repeated[0]}` stands twice")
