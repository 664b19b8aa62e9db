"""Which claims in memory a new claim may be about."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from evaluators.claims.memory import active
from evaluators.claims.records import Claim, Entry

if TYPE_CHECKING:
    from evaluators.arrays import FloatArray


class ClaimVectors:
    """Claims of one conversation as vectors of length one, by text; each text is embedded once.

    Nothing is embedded before a vector is asked for; then everything expected by then is, in one batch.
    """

    def __init__(self, embed: "Callable[[Sequence[str]], FloatArray]") -> None:
        self._embed = embed
        self._waiting: dict[str, None] = {}
        self._vectors: dict[str, FloatArray] = {}

    def expect(self, texts: Iterable[str]) -> None:
        """Texts that may be asked for later."""
        self._waiting.update(dict.fromkeys(text for text in texts if text not in self._vectors))

    def of(self, texts: Sequence[str]) -> "FloatArray":
        """Texts x dimensions."""
        import numpy as np

        if any(text not in self._vectors for text in texts):
            self.expect(texts)
            waiting = list(self._waiting)
            self._vectors.update(zip(waiting, self._embed(waiting), strict=True))
            self._waiting.clear()
        return np.stack([self._vectors[text] for text in texts])


def candidates(
    vectors: ClaimVectors,
    memory: Sequence[Entry],
    speaker: str,
    new_claims: Sequence[Claim],
    *,
    top_k: int,
    own_cap: int,
) -> list[Entry]:
    """The active entries that new claims of `speaker` are compared with.

    First the speaker's own, all of them or, when there are more than `own_cap`, those nearest to each new claim (about
    `own_cap` in all); then of every other speaker, by name, the `top_k` nearest to each new claim. Nearness is cosine
    similarity; within a speaker the order is that of the memory.
    """
    texts = [claim["claim"] for claim in new_claims]
    own = active(memory, speaker)
    if len(own) > own_cap:
        own = nearest(vectors, texts, own, own_cap // len(texts) + 1)
    others = sorted({entry["speaker"] for entry in memory} - {speaker})
    return own + [entry for name in others for entry in nearest(vectors, texts, active(memory, name), top_k)]


def nearest(vectors: ClaimVectors, texts: Sequence[str], entries: Sequence[Entry], count: int) -> list[Entry]:
    """The union over `texts` of the `count` entries nearest to each, in the order of `entries`."""
    import numpy as np

    if len(entries) <= count:
        return list(entries)
    similarity = vectors.of(texts) @ vectors.of([entry["claim"] for entry in entries]).T
    chosen = np.argsort(-similarity, axis=1, kind="stable")[:, :count]
    return [entries[place] for place in sorted({int(place) for place in chosen.flat})]
