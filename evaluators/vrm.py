"""Role scores of Verbal Response Modes (W. B. Stiles (1992), *Describing Talk*): exact functions of the modes.

Each mode answers three questions, and each question splits the eight modes in half: attentive (about the other's
experience) against informative, acquiescent (in the other's frame of reference) against directive, presumptuous (claims
to know the other's mind) against unassuming. A score is the share of the first half; uncodable units (U) have none.
"""

from collections.abc import Mapping

MODES = frozenset("DEACQKIR")
UNCODABLE = "U"
SCORES: Mapping[str, frozenset[str]] = {
    "attentive": frozenset("RKIQ"),
    "acquiescent": frozenset("RKCE"),
    "presumptuous": frozenset("RICA"),
}
DIMENSIONS = ("intent", "form")
"""The dimensions that the codebook for VRM has."""


def are_modes(values: frozenset[str]) -> bool:
    """Whether these categories are those of VRM."""
    return bool(values & MODES) and values <= MODES | {UNCODABLE}


def role_scores(counts: Mapping[str, int]) -> dict[str, float | None]:
    """Each score from the number of units per mode, `None` without any.

    >>> role_scores({"Q": 2, "R": 1, "D": 1})  # attentive Q Q R of 4, acquiescent R, presumptuous R
    {'attentive': 0.75, 'acquiescent': 0.25, 'presumptuous': 0.25}
    """
    n = sum(count for mode, count in counts.items() if mode in MODES)
    return {
        score: sum(count for mode, count in counts.items() if mode in half) / n if n else None
        for score, half in SCORES.items()
    }
