"""Asking a model about one conversation, and keeping account of what could not be had."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from convolabel.llm.asking import Reading, ask_in_parts
from convolabel.llm.client import LLMClient
from convolabel.llm.errors import BadRequest, Blocked, Refused, Unusable

Item = TypeVar("Item")
Part = TypeVar("Part")
Result = TypeVar("Result")

# A later run would meet these again, so the conversation goes on without the answer. After any other error it stops:
# what follows depends on the answer, and would have to be paid for twice when a later run gets it.
_LASTING = (BadRequest, Blocked, Refused, Unusable)


@dataclass(frozen=True, order=True)
class Problem:
    """Something about a conversation that is missing from its record; `reason` holds no words of the conversation."""

    stage: str
    place: str
    reason: str
    kind: str

    def __str__(self) -> str:
        return f"{self.stage}, {self.place}: {self.reason}"


@dataclass(frozen=True)
class Found(Generic[Item]):
    """The good items of a reply, and a phrase for each fault."""

    items: list[Item]
    faults: list[str] = field(default_factory=list)


Reply = TypeVar("Reply", bound=Found[Any])


class Start(Protocol):
    """Begins calls that do not depend on each other."""

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> list[Future[Result]]: ...


def one_by_one(function: Callable[[Item], Result], items: Iterable[Item], /) -> list[Future[Result]]:
    """For calls outside a run: each is made before this returns. Raises what `function` raises."""
    futures = []
    for item in items:
        future: Future[Result] = Future()
        future.set_result(function(item))
        futures.append(future)
    return futures


class Calls:
    """The calls about one conversation. `count` is told what was odd; `problems` collects what is missing.

    With `keeps_going` an answer that no later run would get either is a problem; without, its error is raised.
    """

    def __init__(
        self,
        client: LLMClient,
        *,
        start: Start = one_by_one,
        count: Callable[[str, int], None] = lambda what, number: None,
        keeps_going: bool = False,
    ) -> None:
        self.client = client
        self.start = start
        self.count = count
        self.keeps_going = keeps_going
        self.problems: list[Problem] = []

    def side_by_side(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The results in order. An error is raised after all calls have ended, so that no answer on its way is lost."""
        futures = self.start(function, items)
        wait(futures)
        return [future.result() for future in futures]

    def ask_whole(self, stage: str, place: str, prompt: str, read: Callable[[Any], Reply]) -> Reply | None:
        """What the reply to `prompt` holds. A faulty reply is asked for again once; then the better one counts.

        `None` when there is no answer at all. Raises `LLMError` for what a later run may do better, and `Stopped`.
        """
        replies: list[Reply] = []

        def reading(reply: Any, _keys: Sequence[str]) -> Reading[str, Reply]:
            found = read(reply)
            replies.append(found)
            return Reading({} if found.faults else {"all": found}, found.faults)

        whole: Reply | None = self._ask(stage, place, ("all",), lambda _keys: prompt, reading).get("all")
        return whole or max(replies, key=lambda found: len(found.items), default=None)

    def ask_parts(
        self,
        stage: str,
        place: str,
        keys: Sequence[int],
        prompt_for: Callable[[Sequence[int]], str],
        read: Callable[[Any, Sequence[int]], Reading[int, Part]],
    ) -> dict[int, Part]:
        """The good parts of the reply by key; those that are faulty are asked for again once, alone."""
        return self._ask(stage, place, keys, prompt_for, read)

    def _ask(self, stage: str, place: str, keys: Any, prompt_for: Any, read: Any) -> dict[Any, Any]:
        try:
            answer = ask_in_parts(self.client, keys, prompt_for, read)
        except _LASTING as error:
            if not self.keeps_going:
                raise
            self.problems.append(Problem(stage, place, str(error), error.kind))
            return {}
        if answer.calls > 1:
            self.count("calls repeated for faulty replies", 1)
        if answer.missing:
            self.problems.append(Problem(stage, place, answer.reason, "faulty_reply"))
        return answer.parts
