from typing import Any

import pytest

from convolabel import Study
from importers.work import Rater, SetAside, rater_work, study_raters, utc

ANA, BEN = Rater(7, "ana@example.com", "Ana"), Rater(8, "ben@example.com", "Ben Bo")
MORNING, NOON, EVENING = (f"2026-03-01T{hour}:00:00Z" for hour in ("08", "12", "18"))


def annotation(user: int, updated: str, name: str, **more: Any) -> dict[str, Any]:
    return {"completed_by": user, "result": [{"id": name}], "created_at": MORNING, "updated_at": updated, **more}


def draft(email: str, updated: str, name: str, of: int | None = None) -> dict[str, Any]:
    times = {"created_at": MORNING, "updated_at": updated}
    return {"user": email, "annotation": of, "result": [{"id": name}], **times}


def names(annotations: list[dict[str, Any]], drafts: list[dict[str, Any]], aside: SetAside) -> dict[str, str]:
    work = rater_work(annotations, drafts, [ANA, BEN], aside)
    return {rater.name: str(piece.results[0]["id"]) for rater, piece in work.items()}


def test_raters_come_in_study_order_with_account_name_or_email(study: Study) -> None:
    users = [
        {"id": 8, "email": "Ben@Example.com", "first_name": "Ben", "last_name": "Bo"},
        {"id": 7, "email": "ana@example.com", "first_name": "", "last_name": ""},
        {"id": 1, "email": "admin@example.com", "first_name": "", "last_name": ""},
    ]
    assert study_raters(study, users) == [ANA, BEN]
    nameless = [{"id": 8, "email": "ben@example.com", "first_name": "", "last_name": ""}]
    assert study_raters(study, nameless) == [Rater(8, "ben@example.com", "ben@example.com")]


@pytest.mark.parametrize("who", [7, {"id": 7, "email": "ana@example.com"}])
def test_an_annotation_names_its_rater_by_id_or_whole(who: object) -> None:
    assert names([{**annotation(7, NOON, "a"), "completed_by": who}], [], SetAside()) == {"Ana": "a"}


def test_a_draft_that_edits_an_annotation_supersedes_it() -> None:
    aside = SetAside()
    assert names([annotation(7, NOON, "old")], [draft("ana@example.com", EVENING, "new", of=1)], aside) == {
        "Ana": "new"
    }
    assert aside.superseded == 1


def test_an_annotation_changed_after_its_draft_wins() -> None:
    assert names([annotation(7, EVENING, "new")], [draft("ana@example.com", NOON, "old", of=1)], SetAside()) == {
        "Ana": "new"
    }


def test_of_several_annotations_the_newest_counts_and_the_report_says_so() -> None:
    aside = SetAside()
    pieces = [annotation(7, NOON, "b"), annotation(7, EVENING, "c"), annotation(7, MORNING, "a")]
    assert names(pieces, [], aside) == {"Ana": "c"}
    assert aside.superseded == 2


def test_offsets_are_compared_as_moments_not_as_text() -> None:
    # 13:00+02:00 is 11:00 UTC, before 12:00 UTC
    pieces = [annotation(7, "2026-03-01T13:00:00+02:00", "early"), annotation(7, NOON, "late")]
    assert names(pieces, [], SetAside()) == {"Ana": "late"}


def test_others_and_skipped_work_are_counted_and_left_out() -> None:
    aside = SetAside()
    found = names(
        [annotation(1, NOON, "x"), annotation(7, NOON, "y", was_cancelled=True)],
        [draft("admin@example.com", NOON, "z"), draft("BEN@example.com", NOON, "ben")],
        aside,
    )
    assert found == {"Ben Bo": "ben"}
    assert (dict(aside.others), aside.cancelled) == ({"user 1": 1, "admin@example.com": 1}, 1)


def test_work_began_with_the_draft_it_was_submitted_from() -> None:
    submitted = annotation(7, EVENING, "a", created_at=EVENING, draft_created_at=NOON)
    assert rater_work([submitted], [], [ANA], SetAside())[ANA].created_at == "2026-03-01T12:00:00.000000Z"


def test_times_are_utc_with_z() -> None:
    assert utc("2026-03-01T00:30:00.5+01:00") == "2026-02-28T23:30:00.500000Z"
