"""CIG beside ConvoKit 5.0: equal where ConvoKit is right, worked out by hand where it is not."""

from typing import Any

import pytest

from evaluators import CIG
from evaluators.run_report import Status
from tests.cig.scripted_rater import ScriptedRater, scores
from tests.reference_corpora import reference


def rounded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "cig_mean": round(row["cig_mean"], 10)} for row in rows]


@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize(
    "name",
    [
        "c01_basic3",
        "c02_solo",
        "c03_silent_mediator",
        "c06_named_mediator",
        "c08_empties",
        "c05_dup_names",
        "c09_shuffled",
    ],
)
def test_opening_targets_scores_and_summary_are_convokits(name: str, n_workers: int) -> None:
    """c05 and c09 are in the list because CIG is the one evaluator in which ConvoKit is right about them.

    c05: names occur in the prompt only. c09: ConvoKit's CIG sorts by timestamp too. By hand: after sorting, u0 (bot),
    u1 (a), u2 (b) complete the opening; u3, u4, u5, u6 follow, u4 and u5 share the timestamp 140 and keep file order.
    """
    given = reference(name)
    rater = CIG(ScriptedRater(given.corpus, given.answers), n_workers=n_workers, verbosity=0)
    assert rater.transform(given.corpus) is given.corpus
    for ident, expected in given.expected["conversations"].items():
        ordered = given.corpus.get_conversation(ident).get_chronological_utterance_list()
        in_opening, is_target = rater.rating_targets(ordered)
        assert [each.id for each in ordered] == expected["order"]
        assert [each.id for each, yes in zip(ordered, in_opening, strict=True) if yes] == expected["cig"]["opening"]
        assert [each.id for each, yes in zip(ordered, is_target, strict=True) if yes] == expected["cig"]["targets"]
        assert {key: value for key, value in scores(given.corpus).items() if key in expected["order"]} == expected[
            "cig"
        ]["scores"]
    summary = given.expected["cig_summary"]
    assert rounded(rater.summary_rows(given.corpus, min_mediator_utts=0)) == summary["min0"]
    assert rounded(rater.summary_rows(given.corpus)) == summary["min2"]
    table = rater.summarize(given.corpus)
    assert list(table.columns) == ["conversation_id", "is_mediator", "n_rated", "cig_mean"]
    assert rounded(table.to_dict("records")) == summary["min2"]


def test_one_call_per_conversation_that_has_something_to_rate() -> None:
    given = reference("c03_silent_mediator")
    rater = ScriptedRater(given.corpus, given.answers)
    CIG(rater, verbosity=0).transform(given.corpus)
    assert len(rater.prompts) == 2


N = None
RIGHT = {
    # conversation: scores of u3, u4, u5 (u0-u2 are the opening, u6 is a fragment) and the status
    "strings": ([4, 2, 3], Status.COMPLETE),  # "3" -> 3 and "4" -> 4 are whole numbers
    "range": ([N, N, N], Status.FAILED),  # 9, 0 and -1 are not on the scale; ConvoKit keeps 9, 0, -1
    "missing": ([2, N, N], Status.PARTIAL),  # asked again for 4 and 5, the reply still has only 3
    "extra": ([2, 2, 2], Status.COMPLETE),  # 0 and 6 were not asked for: dropped; ConvoKit keeps 4 and 1
    "dups": ([N, 2, 2], Status.PARTIAL),  # line 3 is rated 1 and 4: neither is known to be meant; ConvoKit takes 4
    "floats": ([N, N, 3], Status.PARTIAL),  # 2.9 and true are no whole numbers, 3.0 is; ConvoKit has 2, 1, 3
    "wrapped": ([2, 2, 2], Status.COMPLETE),  # a list inside an object; ConvoKit drops the conversation
    "nulls": ([N, 2, 2], Status.PARTIAL),  # one null; ConvoKit drops the conversation
    "dropkey": ([2, N, 2], Status.PARTIAL),  # one rating without a score; ConvoKit drops the conversation
    "empty": ([N, N, N], Status.FAILED),  # nothing rated, and said so; ConvoKit says nothing
}


UNASKED_AGAIN = 8
"""Second replies repeat the first, so that ratings which were good come again unasked: missing 1 (u3), dups 2 (u4, u5),
floats 1 (u5), nulls 2 (u4, u5), dropkey 2 (u3, u5)."""


def test_odd_replies() -> None:
    given = reference("c10_odd_cig")
    model = ScriptedRater(given.corpus, given.answers)
    rater = CIG(model, verbosity=0)
    rater.transform(given.corpus)
    found = scores(given.corpus)
    for ident, (right, status) in RIGHT.items():
        assert [found[f"{ident}.u{place}"] for place in range(7)] == [N, N, N, *right, N], ident
        assert rater.report is not None
        assert rater.report.statuses[ident] is status, ident
        conversation = given.corpus.get_conversation(ident)
        assert conversation.meta["cig_status"]["status"] == status
        without = [f"{ident}.u{place}" for place, score in zip((3, 4, 5), right, strict=True) if score is None]
        assert conversation.meta["cig_status"].get("without_rating", []) == without
    # one call each, and one more for each of the seven with a fault
    assert len(model.prompts) == 10 + 7
    assert {failure.conversation_id for failure in rater.report.failures} == {
        ident for ident, (_, status) in RIGHT.items() if status is not Status.COMPLETE
    }
    # what was dropped is counted: 0, 6 and 99 of "extra" were not asked for
    assert rater.report.counts["faults in replies: rating of a line that was not to be rated"] == 3 + UNASKED_AGAIN
    # means by hand, u3 being the mediator's: strings 4 | (2+3)/2; missing 2; extra 2 | (2+2)/2; dups (2+2)/2;
    # floats 3; wrapped 2 | 2; nulls (2+2)/2; dropkey 2 | 2
    assert [
        (row["conversation_id"], row["is_mediator"], row["n_rated"], row["cig_mean"])
        for row in rater.summary_rows(given.corpus)
    ] == [
        ("strings", False, 2, 2.5),
        ("strings", True, 1, 4.0),
        ("missing", True, 1, 2.0),
        ("extra", False, 2, 2.0),
        ("extra", True, 1, 2.0),
        ("dups", False, 2, 2.0),
        ("floats", False, 1, 3.0),
        ("wrapped", False, 2, 2.0),
        ("wrapped", True, 1, 2.0),
        ("nulls", False, 2, 2.0),
        ("dropkey", False, 1, 2.0),
        ("dropkey", True, 1, 2.0),
    ]


def test_two_speakers_of_one_name_stay_apart_in_the_prompt() -> None:
    """c05: x1 and x2 are both called Sam, and all three speak before the mediator does."""
    given = reference("c05_dup_names")
    prompt, places = CIG(object()).build_prompt(given.corpus.get_conversation("dup"))
    assert places == [4, 5]
    assert prompt is not None
    for shown in ('"speaker": "Sam"', '"speaker": "Sam (2)"', '"speaker": "Kim"', '"speaker": "Mediator"'):
        assert shown in prompt


@pytest.mark.parametrize(
    ("name", "ident", "targets"),
    [
        # a, b, c and the mediator have spoken after u3; "ghost" has a pre-survey text and never speaks
        ("c14_partial_seed", "part", [4, 5]),
        # two participants, two utterances: the second completes the opening, nothing is left
        ("c14_partial_seed", "full", []),
        ("c14_partial_seed", "neg", []),
        # bot, a and b have spoken after u3
        ("c16_long", "long", [4, 5, 6, 7, 8, 9, 10, 11]),
        # a, b and the mediator have spoken after u2
        ("c11_odd_claims", "odd", [3, 4, 5, 6]),
    ],
)
def test_targets_of_the_other_corpora(name: str, ident: str, targets: list[int]) -> None:
    conversation = reference(name).corpus.get_conversation(ident)
    assert CIG(object()).build_prompt(conversation)[1] == targets


def test_nothing_to_rate_is_said_and_costs_no_call() -> None:
    """c14 `full` and `neg`: the second speaker joins in the last utterance. ConvoKit says nothing about it."""
    given = reference("c14_partial_seed")
    model = ScriptedRater(given.corpus, {})
    rater = CIG(model, verbosity=0)
    rater.transform(given.corpus, selector=lambda conversation: conversation.id in ("full", "neg"))
    assert model.prompts == []
    assert rater.report is not None
    assert rater.report.statuses == {"full": Status.EMPTY, "neg": Status.EMPTY}
    assert "joins at the end" in rater.report.text()
    assert rater.summarize(given.corpus).empty
    assert list(rater.summarize(given.corpus).columns) == ["conversation_id", "is_mediator", "n_rated", "cig_mean"]


def test_a_long_conversation_is_rated_in_windows() -> None:
    """c16 in prompts of about 1000 tokens: every target is rated once, and sees what came right before it."""
    given = reference("c16_long")
    places = {utterance.id: place for place, utterance in enumerate(given.corpus.iter_utterances())}
    model = ScriptedRater(given.corpus, {"cig": {ident: place % 4 + 1 for ident, place in places.items()}})
    rater = CIG(model, verbosity=0, max_prompt_tokens=1300)
    rater.transform(given.corpus)
    # u0-u3 are the opening; from u4 on the script gives place % 4 + 1
    assert list(scores(given.corpus).values()) == [None] * 4 + [1, 2, 3, 4, 1, 2, 3, 4]
    windows = given.corpus.get_conversation("long").meta["cig_status"]["windows"]
    assert len(model.prompts) == len(windows) > 1
    assert [start for _, start, _ in windows] == [4, *[end for _, _, end in windows[:-1]]]
    assert windows[-1][2] == 12
    assert all(background < start for background, start, _ in windows)
