"""Paraphrases among the claims of one utterance."""

from collections.abc import Iterable, Mapping, Sequence

from evaluators.claims.records import Claim

Pair = tuple[str, str]
"""Premise and hypothesis."""


def pairs_to_judge(claims: Sequence[Claim]) -> Iterable[Pair]:
    """Every two claims of one kind, in both directions."""
    for place, claim in enumerate(claims):
        for earlier in claims[:place]:
            if earlier["kind"] == claim["kind"]:
                yield earlier["claim"], claim["claim"]
                yield claim["claim"], earlier["claim"]


def collapsed(claims: Sequence[Claim], entailment: Mapping[Pair, float], threshold: float) -> list[Claim]:
    """The claims of one utterance with paraphrases taken together.

    A claim that entails one already kept, and is entailed by it, with a probability of at least `threshold` each way,
    becomes one of its `siblings`. `entailment` holds the probabilities of `pairs_to_judge(claims)`.
    """
    kept: list[Claim] = []
    for claim in claims:
        twin = next((each for each in kept if _are_same(each, claim, entailment, threshold)), None)
        if twin is None:
            kept.append({**claim, "siblings": []})
        else:
            twin["siblings"].append(claim["claim"])
    return kept


def _are_same(one: Claim, other: Claim, entailment: Mapping[Pair, float], threshold: float) -> bool:
    a, b = one["claim"], other["claim"]
    return one["kind"] == other["kind"] and min(entailment[a, b], entailment[b, a]) >= threshold
