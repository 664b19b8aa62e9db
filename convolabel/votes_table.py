"""The export table: one row per rater, decided unit and dimension (design, section 9; docs/votes-table.md)."""

COLUMNS: tuple[str, ...] = (
    "study",
    "conversation_id",
    "conversation_label",
    "rater_kind",
    "rater_id",
    "rater_name",
    "dimension",
    "category",
    "unsure",
    "note",
    "second_choice",
    "copilot_shown",
    "copilot_arm",
    "copilot_label",
    "copilot_label_2",
    "copilot_accepted",
    "copilot_helpful",
    "copilot_model",
    "copilot_prompt_version",
    "time_ms",
    "later_time_ms",
    "created_at",
    "updated_at",
    "span_rev",
    "span_start",
    "span_end",
    "span_text",
    "speaker",
    "speaker_role",
    "span_id",
    "message_id",
    "span_index",
)
"""Order is final. Booleans are `true`/`false`, times UTC ISO 8601, an empty cell means "not known" or "not so far"."""

UNIT_COLUMN = "span_id"
RATER_COLUMN = "rater_id"
VALUE_COLUMN = "category"
