"""Which lines are compared: a mediator turn, what stands in its place, and the reply to it (evaluator spec).

The functions with ConvoKit's names read roles from the utterances' metadata, where `MediatorRedirection.label_roles`
writes them.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from convolabel.errors import InputError
from evaluators.models.reply_likelihood import Comparison
from evaluators.reading_order import in_reading_order

if TYPE_CHECKING:
    from evaluators.corpus.protocols import ConversationLike

MEDIATOR_LABEL = "mediator"
"""The role of every mediator, and what their lines begin with."""
ROLE_ATTRIBUTE_NAME = "redirection_role"
COUNTERFACTUALS = ("prev", "delete")

Contexts = dict[str, list[str]]
"""Lines by the id of the mediator's utterance."""

_LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_LINE_BREAK = re.compile(f"[ \t]*[{_LINE_BREAKS}][{_LINE_BREAKS} \t]*")


def mediator_speaker_prefixes(roles: Iterable[str]) -> dict[str, str]:
    """Role -> what its lines begin with: the role itself, as in "Goose: "."""
    return {role: f"{on_one_line(role)}: " for role in roles}


def mediator_previous_context_selector(
    convo: "ConversationLike", counterfactual: str = "prev", role_attribute_name: str = ROLE_ATTRIBUTE_NAME
) -> tuple[Contexts, Contexts]:
    """What was said before the reply to each mediator turn, and what it is compared with.

    Actual: the last turn of a participant and the mediator's. Reference: the same, but with the mediator's previous
    turn ("prev") or without any ("delete"). There are none for a turn right after another mediator turn, without a
    turn of a participant before it, or, for "prev", without one of the mediator. Raises `InputError` for another
    `counterfactual`.
    """
    checked_counterfactual(counterfactual)
    return previous_contexts(in_reading_order(convo).utterances, counterfactual, role_attribute_name)


def mediator_future_context_selector(
    convo: "ConversationLike", role_attribute_name: str = ROLE_ATTRIBUTE_NAME
) -> Contexts:
    """The reply to each mediator turn: the next turn, when it is a participant's and has text."""
    return future_contexts(in_reading_order(convo).utterances, role_attribute_name)


def comparisons(utterances: Sequence[Any], counterfactual: str) -> dict[str, Comparison]:
    """By the id of the mediator's utterance, for every turn that can be scored; `utterances` in reading order."""
    actual, reference = previous_contexts(utterances, counterfactual, ROLE_ATTRIBUTE_NAME)
    replies = future_contexts(utterances, ROLE_ATTRIBUTE_NAME)
    return {
        ident: Comparison(tuple(actual[ident]), tuple(reference[ident]), tuple(replies[ident]))
        for ident in actual
        if ident in replies
    }


def line_of(utterance: Any) -> str:
    """A labelled utterance as a line of what is scored."""
    return _line(utterance.meta[ROLE_ATTRIBUTE_NAME], utterance)


def checked_counterfactual(counterfactual: str) -> str:
    if counterfactual not in COUNTERFACTUALS:
        raise InputError(f"counterfactual is one of {', '.join(COUNTERFACTUALS)}; found {counterfactual!r}.")
    return counterfactual


def previous_contexts(utterances: Sequence[Any], counterfactual: str, role_key: str) -> tuple[Contexts, Contexts]:
    actual: Contexts = {}
    reference: Contexts = {}
    participant: str | None = None
    mediator: str | None = None
    follows_mediator = False
    for utterance, role in _with_roles(utterances, role_key):
        line = _line(role, utterance)
        if role != MEDIATOR_LABEL:
            participant = line
        else:
            if participant is not None and not follows_mediator:
                if counterfactual == "delete":
                    reference[utterance.id] = [participant]
                elif mediator is not None:
                    reference[utterance.id] = [participant, mediator]
                if utterance.id in reference:
                    actual[utterance.id] = [participant, line]
            mediator = line
        follows_mediator = role == MEDIATOR_LABEL
    return actual, reference


def future_contexts(utterances: Sequence[Any], role_key: str) -> Contexts:
    replies: Contexts = {}
    before: Any = None
    for utterance, role in _with_roles(utterances, role_key):
        if before is not None and role != MEDIATOR_LABEL and utterance.text.strip():
            replies[before.id] = [_line(role, utterance)]
        before = utterance if role == MEDIATOR_LABEL else None
    return replies


def _with_roles(utterances: Sequence[Any], role_key: str) -> list[tuple[Any, str]]:
    roles = [(utterance, utterance.meta.get(role_key)) for utterance in utterances]
    without = next((utterance for utterance, role in roles if role is None), None)
    if without is not None:
        raise InputError(f"The utterance {without.id} has no {role_key!r}; call label_roles first.")
    return roles


def _line(role: str, utterance: Any) -> str:
    return mediator_speaker_prefixes([role])[role] + on_one_line(utterance.text)


def on_one_line(text: str) -> str:
    """A line break in a message would let it pass for the line of somebody else."""
    return _LINE_BREAK.sub(" ", text.strip(_LINE_BREAKS))
