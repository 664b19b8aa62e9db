"""The export table: one row per rater, decided unit and dimension (design, section 9; docs/votes-table.md)."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from convolabel.units import UNSURE


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


def _text_if_number(value: object) -> object:
    return str(value) if type(value) is int else value


Ident = Annotated[str, BeforeValidator(_text_if_number), Field(min_length=1)]
"""A number (a rater's account, a message's position) becomes text: a CSV cell cannot tell 1 from "1"."""
OptionalText = Annotated[str | None, BeforeValidator(_none_if_empty)]
OptionalFlag = Annotated[bool | None, BeforeValidator(_none_if_empty)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
OptionalCount = Annotated[int | None, Field(ge=0, lt=2**63), BeforeValidator(_none_if_empty)]
OptionalTime = Annotated[
    str | None,
    Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$"),
    BeforeValidator(_none_if_empty),
]


class Vote(BaseModel):
    """One row. The order of the fields is the order of the columns, and final.

    Every column either holds a value always (then an empty text is an empty text) or is optional (then an empty
    text is `None`), so that an empty CSV cell has one meaning. `category` is a category id of `dimension`, and
    `None` exactly when the rater decided that they are unsure. Offsets are Unicode code points, durations
    milliseconds, times UTC in ISO 8601 with a final `Z`. Text with lone surrogates is refused.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    study: str
    conversation_id: Ident
    conversation_label: str = ""
    rater_kind: Literal["human", "llm"] = "human"
    rater_id: Ident
    rater_name: str = ""
    dimension: Ident
    category: OptionalText
    unsure: bool = False
    note: str = ""
    second_choice: OptionalText = None
    copilot_shown: OptionalFlag = None
    copilot_arm: OptionalText = None
    copilot_label: OptionalText = None
    copilot_label_2: OptionalText = None
    copilot_accepted: OptionalFlag = None
    copilot_helpful: OptionalFlag = None
    copilot_model: OptionalText = None
    copilot_prompt_version: OptionalText = None
    time_ms: OptionalCount = None
    later_time_ms: OptionalCount = None
    created_at: OptionalTime = None
    updated_at: OptionalTime = None
    span_rev: Count
    span_start: Count
    span_end: Count
    span_text: str
    speaker: str = ""
    speaker_role: OptionalText = None
    message_index: OptionalCount = None
    copilot_confidence: OptionalText = None
    span_id: Ident
    message_id: Ident
    span_index: Count

    @model_validator(mode="after")
    def _storable(self) -> Self:
        for column, value in self:
            if isinstance(value, str) and not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
                raise ValueError(f"{column} holds a lone surrogate, which no file can keep")
        return self

    @model_validator(mode="after")
    def _category_or_unsure(self) -> Self:
        if self.category == UNSURE or (self.category is None) != self.unsure:
            raise ValueError("a row names a category, or has no category and says unsure")
        return self


COLUMNS: tuple[str, ...] = tuple(Vote.model_fields)
"""Order is final. Booleans are `true`/`false`, times UTC ISO 8601, an empty cell means "not known" or "not so far"."""

UNIT_COLUMNS = ("span_id", "span_rev")
"""What names a unit: a span id is unique in a study, and `span_rev` tells its revisions apart."""
UNIT_COLUMN = "span_id"
RATER_COLUMN = "rater_id"
VALUE_COLUMN = "category"
DIMENSION_COLUMN = "dimension"
UNSURE_COLUMN = "unsure"
