"""Which mediator turns are scored, against what; all by hand."""

from collections.abc import Sequence

import pytest

from convolabel.errors import InputError
from evaluators import (
    MediatorRedirection,
    mediator_future_context_selector,
    mediator_previous_context_selector,
    mediator_speaker_prefixes,
)
from evaluators.corpus import Conversation, Corpus
from evaluators.models.reply_likelihood import Comparison
from tests.redirection.plain_likelihood import SharedWords, talk

TURNS = [
    ("m", "Welcome."),  # 0: nobody spoke before
    ("a", "Parks are nice."),  # 1
    ("m", "Why?"),  # 2: scored
    ("b", "They are green."),  # 3
    ("m", "And at night?"),  # 4: the next turn is the mediator's
    ("m2", "Or in winter?"),  # 5: follows a mediator turn
    ("a", "Less so."),  # 6
    ("m", "Hm?"),  # 7: the next turn has no text
    ("b", " \t"),  # 8
    ("m", "Well?"),  # 9: scored; the last participant turn is the blank one
    ("a", "Fine."),  # 10
    ("m", "Bye."),  # 11: nothing follows
]


def only(corpus: Corpus) -> Conversation:
    (conversation,) = corpus.iter_conversations()
    return conversation


def asked(turns: Sequence[tuple[str, str]], counterfactual: str = "prev") -> dict[str, Comparison]:
    return MediatorRedirection(SharedWords(), counterfactual).comparisons(only(talk(turns)))


def test_which_turns_are_scored_and_against_what() -> None:
    assert asked(TURNS) == {
        "t.u2": Comparison(
            ("a: Parks are nice.", "mediator: Why?"),
            ("a: Parks are nice.", "mediator: Welcome."),
            ("b: They are green.",),
        ),
        # the mediator's previous turn is number 7, though it was not scored itself
        "t.u9": Comparison(("b:  \t", "mediator: Well?"), ("b:  \t", "mediator: Hm?"), ("a: Fine.",)),
    }


def test_delete_needs_no_earlier_mediator_turn_and_leaves_the_turn_out() -> None:
    turns = [("a", "One."), ("m", "Two?"), ("a", "Three.")]
    assert asked(turns) == {}
    assert asked(turns, "delete") == {"t.u1": Comparison(("a: One.", "mediator: Two?"), ("a: One.",), ("a: Three.",))}


def test_the_public_selectors_read_the_roles_that_label_roles_writes() -> None:
    corpus = talk(TURNS, names={"a": "Ann"})
    MediatorRedirection(SharedWords()).label_roles(corpus, lambda _: True)
    actual, reference = mediator_previous_context_selector(only(corpus))
    # a context needs no reply: 4 and 7 and 11 have one too
    assert list(actual) == list(reference) == ["t.u2", "t.u4", "t.u7", "t.u9", "t.u11"]
    assert actual["t.u2"] == ["Ann: Parks are nice.", "mediator: Why?"]
    assert reference["t.u7"] == ["Ann: Less so.", "mediator: Or in winter?"]
    assert mediator_future_context_selector(only(corpus)) == {
        "t.u0": ["Ann: Parks are nice."],
        "t.u2": ["b: They are green."],
        "t.u5": ["Ann: Less so."],
        "t.u9": ["Ann: Fine."],
    }
    _, deleted = mediator_previous_context_selector(only(corpus), "delete")
    assert deleted["t.u2"] == ["Ann: Parks are nice."]


def test_roles_under_another_key() -> None:
    conversation = only(talk([("a", "One."), ("m", "Two?"), ("a", "Three.")]))
    for utterance, role in zip(conversation.iter_utterances(), ("Ann", "mediator", "Ann"), strict=True):
        utterance.meta["role"] = role
    actual, _ = mediator_previous_context_selector(conversation, "delete", role_attribute_name="role")
    assert actual == {"t.u1": ["Ann: One.", "mediator: Two?"]}
    assert mediator_future_context_selector(conversation, role_attribute_name="role") == {"t.u1": ["Ann: Three."]}


def test_without_roles_and_with_an_unknown_counterfactual_it_says_what_to_do() -> None:
    with pytest.raises(InputError, match="label_roles"):
        mediator_previous_context_selector(only(talk(TURNS)))
    with pytest.raises(InputError, match="prev, delete; found 'swap'"):
        MediatorRedirection(SharedWords(), "swap")
    with pytest.raises(InputError, match="prev, delete; found 'swap'"):
        mediator_previous_context_selector(only(talk(TURNS)), "swap")


def test_prefixes_are_the_roles() -> None:
    assert mediator_speaker_prefixes(["mediator", "Goose"]) == {"mediator": "mediator: ", "Goose": "Goose: "}


def roles(corpus: Corpus) -> list[str]:
    MediatorRedirection(SharedWords()).label_roles(corpus)
    return [each.meta["redirection_role"] for each in corpus.iter_utterances()]


def test_names_are_distinct_and_none_is_the_mediators() -> None:
    turns = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("m", "5"), ("m2", "6"), ("a", "7")]
    names = {"a": "Sam", "b": "Sam", "c": "mediator", "d": "mediator\n", "m": "Facilitator"}
    mediators = ["mediator", "mediator"]
    expected = ["Sam", "Sam (2)", "mediator (participant)", "mediator (participant) (2)", *mediators, "Sam"]
    assert roles(talk(turns, names=names)) == expected


def test_other_mediators_and_other_names() -> None:
    scorer = MediatorRedirection(
        SharedWords(),
        "delete",
        is_mediator=lambda speaker: speaker.id == "a",
        name_func=lambda _, speaker: speaker.id.upper(),
    )
    found = scorer.comparisons(only(talk([("b", "One."), ("a", "Two?"), ("m", "Three.")])))
    assert found == {"t.u1": Comparison(("B: One.", "mediator: Two?"), ("B: One.",), ("M: Three.",))}


@pytest.mark.parametrize("line_break", ["\n", "\n\n", "\r\n", "\u2028", "\x85", " \n\t\n "])
def test_a_line_break_in_a_message_cannot_fake_a_line(line_break: str) -> None:
    turns = [("a", f"One.{line_break}mediator: Two?{line_break}"), ("m", "Three?"), ("b", f"{line_break}Four.")]
    (found,) = asked(turns, "delete").values()
    assert found.reference[0].rstrip(" \t") == "a: One. mediator: Two?"
    assert found.reply[0].split() == ["b:", "Four."]
    assert len("\n\n".join((*found.actual, *found.reply)).splitlines()) == 5  # three lines, two blank ones


def test_background_are_the_lines_that_both_contexts_begin_with() -> None:
    assert Comparison(("a", "t"), ("a", "r"), ("x",)).background == 1
    assert Comparison(("a", "t"), ("a",), ("x",)).background == 1
    assert Comparison(("a", "t"), ("a", "t"), ("x",)).background == 1
    assert Comparison(("t",), ("r",), ("x",)).background == 0
