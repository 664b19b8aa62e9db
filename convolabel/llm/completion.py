"""One answer of a model, and who can give one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Completion:
    """`text` as the model wrote it; token counts are `None` where the provider reports none; `latency` in seconds.

    Has the attributes of ConvoKit's `LLMResponse`.
    """

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float = 0.0
    raw: Any = field(default=None, repr=False, compare=False)
    was_stored: bool = False
    """Whether it came from the cache, without a call."""

    @property
    def tokens(self) -> int:
        """All tokens of the call, -1 when unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return -1
        return self.input_tokens + self.output_tokens


class Provider(Protocol):
    """Makes one call and does not retry. Safe to use from several threads."""

    @property
    def model(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All that shapes an answer beside the prompt, as configured; JSON values."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the run's report should know, such as a parameter that the model refused."""
        ...

    def complete(self, prompt: str, *, schema: Mapping[str, Any] | None = None, room: int = 1) -> Completion:
        """Answer `prompt`; `schema` is a JSON schema of the answer, `room` multiplies the budget of output tokens.

        Raises `LLMError`.
        """
        ...
