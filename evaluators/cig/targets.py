"""Which utterances are rated: neither the opening batch nor fragments."""

from collections.abc import Sequence
from typing import Any

from evaluators.cig.fragments import is_fragment


def rating_targets(utterances: Sequence[Any]) -> tuple[list[bool], list[bool]]:
    """Two flags per utterance, in reading order: whether it is in the opening batch, and whether it is to be rated.

    The opening batch ends with the first utterance by which every speaker has spoken.
    """
    if not utterances:
        return [], []
    first = {utterance.speaker.id: place for place, utterance in reversed(list(enumerate(utterances)))}
    opening_end = max(first.values())
    in_opening = [place <= opening_end for place in range(len(utterances))]
    is_target = [
        not opening and not is_fragment(utterance.text)
        for opening, utterance in zip(in_opening, utterances, strict=True)
    ]
    return in_opening, is_target
