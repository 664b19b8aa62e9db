from typing import Any

from convolabel import Study, TaskData, Unit
from convolabel.native_regions import choice_result, note_result, unit_region
from convolabel.task_data import TaskSpan
from importers.rated_conversations import RatedConversation
from importers.unit_log import LogKey, LogRow, Suggested
from importers.votes import conversation_votes, span_positions
from importers.work import Rater, Work
from tests.importers.two_unit_study import small_data

ANA, BEN = Rater(7, "ana@example.com", "Ana"), Rater(8, "ben@example.com", "ben@example.com")
DATA = small_data("x")
FIRST, SECOND = DATA.spans
CREATED, UPDATED = "2026-03-01T08:00:00.000000Z", "2026-03-01T09:00:00.000000Z"


def work(*results: dict[str, Any]) -> Work:
    return Work(False, (*(unit_region(DATA, span) for span in DATA.spans), *results), CREATED, UPDATED)


def labels(span: TaskSpan, act: str, tone: str) -> list[dict[str, Any]]:
    return [choice_result(DATA, span, "act", [act]), choice_result(DATA, span, "tone", [tone])]


def rated(pieces: dict[Rater, Work]) -> RatedConversation:
    return RatedConversation(12, DATA, pieces)


def test_a_row_per_rater_decided_unit_and_dimension(study: Study) -> None:
    pieces = {
        BEN: work(*labels(SECOND, "S", "unsure")),
        ANA: work(
            *labels(FIRST, "Q", "w"), note_result(DATA, FIRST, "na ja"), choice_result(DATA, SECOND, "act", ["Q"])
        ),
    }
    rows = list(conversation_votes(study, rated(pieces), [ANA, BEN], {}))
    # Ana's second unit lacks a tone: it is started, not decided
    assert [(row.rater_name, row.span_id, row.dimension, row.category, row.unsure) for row in rows] == [
        ("Ana", "x-1", "act", "Q", False),
        ("Ana", "x-1", "tone", "w", False),
        ("ben@example.com", "x-2", "act", "S", False),
        ("ben@example.com", "x-2", "tone", None, True),
    ]
    first = rows[0]
    assert (first.note, first.rater_id, first.created_at, first.updated_at) == ("na ja", "7", CREATED, UPDATED)
    assert (first.span_text, first.span_start, first.span_end) == ("Gut 👍🏽 weiter so.", 0, 17)
    assert (first.speaker, first.speaker_role, first.message_id) == ("a", "counsellor", "m2")
    assert (rows[2].span_index, rows[2].span_text) == (1, "Was nun?")
    assert (first.copilot_shown, first.copilot_arm, first.time_ms) == (None, None, None)


def test_votes_on_an_older_revision_never_appear(study: Study) -> None:
    newer = DATA.model_copy(update={"spans": (FIRST.model_copy(update={"rev": 2}), SECOND)})
    stale = RatedConversation(12, newer, {ANA: work(*labels(FIRST, "Q", "w"))})
    assert list(conversation_votes(study, stale, [ANA], {})) == []


def log_row(**changes: Any) -> LogRow:
    suggested = (Suggested("act", "Q", "high"), Suggested("act", "S", "low"))
    row = LogRow("copilot", True, suggested, True, "m", "p1", 900, 40, "2026-03-01T10:00:00+02:00", UPDATED)
    return row._replace(**changes)


def rows_with_log(study: Study, row: LogRow) -> list[Any]:
    log = {LogKey(12, 7, Unit("x-1", 1)): row, LogKey(12, 8, Unit("x-1", 1)): log_row(model="another rater's")}
    return list(conversation_votes(study, rated({ANA: work(*labels(FIRST, "Q", "w"))}), [ANA], log))


def test_the_log_row_of_this_rater_and_unit_is_joined(study: Study) -> None:
    act, tone = rows_with_log(study, log_row())
    assert (act.copilot_shown, act.copilot_arm, act.copilot_label, act.copilot_label_2) == (True, "copilot", "Q", "S")
    assert (act.copilot_accepted, act.copilot_model, act.copilot_prompt_version) == (True, "m", "p1")
    assert (act.time_ms, act.later_time_ms) == (900, 40)
    assert act.created_at == "2026-03-01T08:00:00.000000Z"
    assert act.copilot_confidence == "high"
    # the suggestion is about `act`; nothing was suggested for `tone`
    assert (tone.copilot_label, tone.copilot_confidence, tone.copilot_accepted) == (None, None, None)


def test_a_suggestion_for_one_dimension_is_not_one_for_another_with_the_same_categories(study: Study) -> None:
    act, tone = rows_with_log(study, log_row(suggested=(Suggested("tone", "w", "low"), Suggested("act", "w", "high"))))
    assert (act.copilot_label, tone.copilot_label) == (None, "w")
    act, tone = rows_with_log(study, log_row(suggested=(Suggested("tone", "Q", "low"),)))
    assert (act.copilot_label, tone.copilot_label) == (None, None)


def test_accepted_is_unknown_where_nothing_was_shown(study: Study) -> None:
    act, _ = rows_with_log(study, log_row(arm="control", shown=False, accepted=False))
    assert (act.copilot_arm, act.copilot_shown, act.copilot_accepted, act.copilot_label) == (
        "control",
        False,
        None,
        "Q",
    )


def test_span_index_is_dense_and_starts_anew_with_every_message() -> None:
    places = [("a", 1), ("b", 1), ("c", 3)]
    spans = tuple(
        TaskSpan(span_id=span_id, message=message, start=number, end=number + 1)
        for number, (span_id, message) in enumerate(places)
    )
    data: TaskData = DATA.model_copy(update={"spans": spans})
    assert span_positions(data) == {"a": 0, "b": 1, "c": 0}
