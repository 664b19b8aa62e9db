"""Claims of a conversation's messages as they arrive."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, wait

from evaluators.claims.extraction import Request
from evaluators.claims.records import Claim

Extracted = Future[list[Claim]]
Collapse = Callable[[Sequence[Sequence[Claim]]], list[list[Claim]]]
"""Takes paraphrases together, for some utterances in one batch."""
Expect = Callable[[Sequence[Claim]], None]
"""Is told of claims as soon as they are ready."""


_HEAD = 8
"""Messages that are asked about first. Conversations that begin together thereby share the calls fairly: none waits
for its first claims until another has got its last."""


class Arriving:
    """The claims of one conversation's messages; `begin` starts calls for some of the requests."""

    def __init__(
        self, begin: Callable[[Sequence[Request | None]], list[Extracted]], requests: Sequence[Request | None]
    ):
        self._begin = begin
        self._rest = requests[_HEAD:]
        self._futures = begin(requests[:_HEAD])

    def in_turn(self, collapse: Collapse, expect: Expect) -> Generator[list[Claim]]:
        """The claims of each message, in order, each as soon as it is there.

        Whatever has arrived by then is collapsed with it, so that a slow consumer gets large batches. An error is
        raised in its turn. Closing waits for all calls, so that no answer on its way is lost.
        """
        ready: list[list[Claim]] = []
        wait(self._futures)
        futures = self._futures + self._begin(self._rest)
        try:
            for place, future in enumerate(futures):
                if place == len(ready):
                    future.result()
                    ready += collapse(_arrived(futures[place:]))
                    expect([claim for claims in ready[place:] for claim in claims])
                yield ready[place]
        finally:
            wait(futures)


def _arrived(futures: Sequence[Extracted]) -> list[list[Claim]]:
    """The results of the futures at the beginning that are done without an error."""
    arrived = []
    for future in futures:
        if not future.done() or future.exception() is not None:
            break
        arrived.append(future.result())
    return arrived
