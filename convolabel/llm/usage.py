"""What calls cost: number, tokens, money, time."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convolabel.llm.completion import Completion
from convolabel.llm.prices import Price, price_of


@dataclass
class _ModelUsage:
    calls: int = 0
    stored: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    seconds: float = 0.0
    slowest: float = 0.0


@dataclass
class Usage:
    """The record of one run, by model; safe to share between threads.

    `prices` are US dollars per million tokens by model name and come before the list of `convolabel.llm.prices`.
    """

    prices: Mapping[str, Price] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._models: dict[str, _ModelUsage] = {}

    def record(self, model: str, completion: Completion) -> None:
        """An answer arrived, or was in store."""
        with self._lock:
            entry = self._models.setdefault(model, _ModelUsage())
            if completion.was_stored:
                entry.stored += 1
                return
            entry.calls += 1
            entry.seconds += completion.latency
            entry.slowest = max(entry.slowest, completion.latency)
            if completion.input_tokens is None or completion.output_tokens is None:
                entry.uncounted += 1
            entry.input_tokens += completion.input_tokens or 0
            entry.output_tokens += completion.output_tokens or 0

    def record_failure(self, model: str) -> None:
        """A call ended without an answer."""
        with self._lock:
            self._models.setdefault(model, _ModelUsage()).failed += 1

    @property
    def calls(self) -> int:
        return self._total("calls")

    @property
    def stored(self) -> int:
        """Answers taken from the cache."""
        return self._total("stored")

    @property
    def failed(self) -> int:
        return self._total("failed")

    @property
    def tokens(self) -> int:
        return self._total("input_tokens") + self._total("output_tokens")

    @property
    def cost(self) -> float | None:
        """US dollars; `None` when a model's price or an answer's tokens are unknown."""
        with self._lock:
            entries = list(self._models.items())
        costs = [self._cost(model, entry) for model, entry in entries]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def as_dict(self) -> dict[str, Any]:
        """JSON values: calls, stored and failed answers, tokens, cost in US dollars, mean and longest latency."""
        with self._lock:
            entries = list(self._models.items())
        models = {
            model: {
                "calls": entry.calls,
                "stored": entry.stored,
                "failed": entry.failed,
                "input_tokens": entry.input_tokens,
                "output_tokens": entry.output_tokens,
                "answers_without_token_count": entry.uncounted,
                "cost_usd": self._cost(model, entry),
                "latency_mean_s": entry.seconds / entry.calls if entry.calls else None,
                "latency_max_s": entry.slowest if entry.calls else None,
            }
            for model, entry in entries
        }
        return {
            "calls": self.calls,
            "stored": self.stored,
            "failed": self.failed,
            "cost_usd": self.cost,
            "models": models,
        }

    def _total(self, name: str) -> int:
        with self._lock:
            return sum(getattr(entry, name) for entry in self._models.values())

    def _cost(self, model: str, entry: _ModelUsage) -> float | None:
        if not entry.calls:
            return 0.0
        price = self.prices.get(model) or price_of(model)
        if price is None or entry.uncounted:
            return None
        return price.cost(entry.input_tokens, entry.output_tokens)
