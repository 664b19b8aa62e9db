"""List prices of models, for estimates; a run's own price comes before them.

As published by the providers in 2025, US dollars per million tokens, without discounts for caching or batches.
"""

from typing import NamedTuple


class Price(NamedTuple):
    """US dollars per million input and output tokens."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


_LIST = {
    "gpt-5": Price(1.25, 10.0),
    "gpt-5-mini": Price(0.25, 2.0),
    "gpt-5-nano": Price(0.05, 0.40),
    "gpt-4.1": Price(2.0, 8.0),
    "gpt-4.1-mini": Price(0.40, 1.60),
    "gpt-4.1-nano": Price(0.10, 0.40),
    "gpt-4o": Price(2.50, 10.0),
    "gpt-4o-mini": Price(0.15, 0.60),
    "gemini-2.5-pro": Price(1.25, 10.0),
    "gemini-2.5-flash": Price(0.30, 2.50),
    "gemini-2.5-flash-lite": Price(0.10, 0.40),
    "gemini-2.0-flash": Price(0.10, 0.40),
}


def price_of(model: str) -> Price | None:
    """The list price of a model, also with a date at its end (`gpt-5-2025-08-07`); `None` when it is not known."""
    name = model.lower().removeprefix("models/")
    stem, _, date = name.partition("-20")
    return _LIST.get(name) or (_LIST.get(stem) if date.replace("-", "").isdigit() else None)
