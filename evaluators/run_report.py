"""What became of a run: the status of every conversation, what failed and why, what it cost."""

import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from convolabel.errors import ConvolabelError
from convolabel.llm.errors import LLMError


class Status(StrEnum):
    """Of one conversation's results."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """Some parts failed; the others are good."""
    EMPTY = "nothing to score"
    FAILED = "failed"
    """No results, and none from earlier runs."""
    STALE = "stale"
    """The run failed; the results are those of an earlier run."""
    NOT_REACHED = "not reached"
    """The run was stopped before this conversation was done."""


@dataclass(frozen=True)
class Failure:
    """`stage` is the part of the work, `kind` a word for machines, `reason` a sentence or phrase for people."""

    conversation_id: str
    stage: str
    kind: str
    reason: str


@dataclass
class RunReport:
    """Filled by a run; safe to share between threads.

    `counts` are numbers of things that were dropped, repaired or odd, by a phrase that names them.
    """

    evaluator: str
    statuses: dict[str, Status] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    usage: dict[str, Any] = field(default_factory=dict)
    was_stopped: bool = False
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def fail(self, conversation_id: str, stage: str, error: Exception | str, *, kind: str | None = None) -> None:
        """One part of the work on a conversation failed; may be called several times for one conversation."""
        word = kind or (error.kind if isinstance(error, LLMError) else "failed")
        failure = Failure(conversation_id, stage, word, _reason(error))
        with self._lock:
            self.failures.append(failure)

    def note(self, text: str) -> None:
        """A sentence for the reader of the report, kept once."""
        with self._lock:
            if text not in self.notes:
                self.notes.append(text)

    def count(self, what: str, number: int = 1) -> None:
        with self._lock:
            self.counts[what] += number

    def set_status(self, conversation_id: str, status: Status) -> None:
        with self._lock:
            self.statuses[conversation_id] = status

    def close(self, usage: dict[str, Any] | None = None) -> None:
        """The run is over."""
        self.seconds = round(time.monotonic() - self._began, 3)
        self.usage = usage or {}

    @property
    def totals(self) -> dict[str, int]:
        """Number of conversations by status."""
        return {str(status): number for status, number in Counter(self.statuses.values()).items()}

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "evaluator": self.evaluator,
            "started_at": self.started_at,
            "seconds": self.seconds,
            "was_stopped": self.was_stopped,
            "conversations": self.totals,
            "statuses": {ident: str(status) for ident, status in self.statuses.items()},
            "failures": [asdict(failure) for failure in self.failures],
            "counts": dict(self.counts),
            "notes": list(self.notes),
            "usage": self.usage,
        }

    def text(self) -> str:
        """The report in lines for a terminal."""
        totals = ", ".join(f"{number} {status}" for status, number in self.totals.items()) or "none"
        lines = [f"{self.evaluator}: conversations: {totals}; {self.seconds:.1f} s"]
        lines += [_usage_line(self.usage)] if self.usage else []
        lines += [f"  {each.conversation_id}, {each.stage}: {each.reason} ({each.kind})" for each in self.failures]
        lines += [f"  {number} x {what}" for what, number in self.counts.items()]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def _reason(error: Exception | str) -> str:
    """Only our own sentences are repeated: another error's words may quote a conversation or a key."""
    return str(error) if isinstance(error, str | ConvolabelError) else f"{type(error).__name__} was raised."


def _usage_line(usage: dict[str, Any]) -> str:
    tokens = sum(each["input_tokens"] + each["output_tokens"] for each in usage["models"].values())
    cost = "cost unknown" if usage["cost_usd"] is None else f"${usage['cost_usd']:.4f}"
    calls = f"{usage['calls']} calls, {usage['stored']} answers from store, {usage['failed']} failed calls"
    return f"  {calls}, {tokens} tokens, {cost}"
