"""Asking for several parts in one call, checking each, and asking once more for those that are faulty."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from convolabel.llm.client import LLMClient
from convolabel.llm.errors import LLMError, Malformed

Key = TypeVar("Key", bound=Hashable)
Part = TypeVar("Part")


@dataclass(frozen=True)
class Reading(Generic[Key, Part]):
    """What one reply holds: the good parts by key, and one short word or phrase per fault (no texts of the corpus)."""

    parts: Mapping[Key, Part]
    faults: Sequence[str] = ()


@dataclass(frozen=True)
class Answer(Generic[Key, Part]):
    """The parts that are good after asking once or twice; `missing` are those that are not, `faults` say why."""

    parts: dict[Key, Part]
    missing: tuple[Key, ...] = ()
    faults: tuple[str, ...] = ()
    calls: int = field(default=1, compare=False)

    @property
    def reason(self) -> str:
        """The faults as a phrase for a report, with how often each occurred."""
        counts = {fault: self.faults.count(fault) for fault in dict.fromkeys(self.faults)}
        return ", ".join(f"{fault} ({count}x)" if count > 1 else fault for fault, count in counts.items())


def ask_in_parts(
    client: LLMClient,
    keys: Sequence[Key],
    prompt_for: Callable[[Sequence[Key]], str],
    read: Callable[[Any, Sequence[Key]], Reading[Key, Part]],
    *,
    schema: Mapping[str, Any] | None = None,
) -> Answer[Key, Part]:
    """Ask for the parts `keys`; `prompt_for` writes the prompt for some of them, `read` checks a reply to it.

    `read` returns only parts of the keys it is given. It may raise `Malformed` when a reply is of no use at all. The
    parts that are missing or faulty are asked for again once, alone, with the faults named. What is faulty then is
    `missing` in the answer, and its reply is forgotten, so that a later run asks again.

    Raises `LLMError` when the first call fails, `Stopped` when the run was stopped.
    """
    first = _read(client.generate_json(prompt_for(keys), schema), keys, read)
    missing = tuple(key for key in keys if key not in first.parts)
    if not missing:
        return Answer(dict(first.parts), faults=tuple(first.faults))
    again = prompt_for(missing) + _note(first.faults)
    try:
        second = _read(client.generate_json(again, schema), missing, read)
    except LLMError as error:
        if error.stops_run:
            raise
        return Answer(dict(first.parts), missing, (*first.faults, error.kind), calls=2)
    parts = {**first.parts, **second.parts}
    left = tuple(key for key in missing if key not in parts)
    if left:
        client.discard(again, schema)
    return Answer(parts, left, (*first.faults, *second.faults), calls=2)


def _read(
    reply: Any, keys: Sequence[Key], read: Callable[[Any, Sequence[Key]], Reading[Key, Part]]
) -> Reading[Key, Part]:
    try:
        return read(reply, keys)
    except Malformed:
        return Reading({}, ("not the form asked for",))


def _note(faults: Sequence[str]) -> str:
    said = "; ".join(dict.fromkeys(faults)) or "parts were missing"
    return f"\n\nAn earlier reply could not be used in full ({said}). Reply exactly in the form described above."
