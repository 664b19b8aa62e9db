"""Dialogue as tokens: contexts and the reply to them, without a token that belongs to both."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from convolabel.errors import InputError
from evaluators.models.reply_likelihood import BLANK_LINE
from evaluators.models.scoring_window import Context, Tokens


class LineEncoder:
    """`tokenizer` is one of transformers. Raises `InputError` when it has no token to begin a text with.

    A text begins with `start`: the tokenizer's own beginning of a text, else its end of a text, which is what models
    without the former have seen before one. Special tokens written out in a message are plain text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if start is None:
            raise InputError("The tokenizer has neither a BOS nor an EOS token; give it one to begin texts with.")
        self.start: int = start

    def encode(self, text: str) -> Tokens:
        """Without any special token."""
        return tuple(self._encoded(text)["input_ids"])

    def contexts_and_reply(
        self, contexts: Sequence[Sequence[str]], background: int, reply: Sequence[str]
    ) -> tuple[list[Context], Tokens]:
        """Each of `contexts` (lines, the first `background` of them background), and the lines of the reply.

        A context and the reply are encoded together, for what stands between them can be part of a longer token
        (".\\n\\n"); where that would give the reply other tokens after one context than after another, or a token of
        context and reply, they are encoded apart.
        """
        said = BLANK_LINE.join(reply)
        texts = [_ended(lines) for lines in contexts]
        owns = [len(_ended(lines[:background])) for lines in contexts]
        together = [self._together(text, own, said) for text, own in zip(texts, owns, strict=True)]
        found = [each for each in together if each is not None]
        replies = {reply for _, reply in found}
        if len(found) == len(texts) and len(replies) == 1:
            return [context for context, _ in found], replies.pop()
        apart = [
            Context(self.encode(text), len(self.encode(text[:own]))) for text, own in zip(texts, owns, strict=True)
        ]
        return apart, self.encode(said)

    def _together(self, context: str, own: int, reply: str) -> tuple[Context, Tokens] | None:
        if not self._tokenizer.is_fast:
            return None
        encoded = self._encoded(context + reply, return_offsets_mapping=True)
        tokens = tuple(encoded["input_ids"])
        starts = [start for start, _ in encoded["offset_mapping"]]
        split = bisect_left(starts, len(context))
        if split and encoded["offset_mapping"][split - 1][1] > len(context):
            return None
        return Context(tokens[:split], bisect_left(starts, own)), tokens[split:]

    def _encoded(self, text: str, **options: Any) -> Any:
        return self._tokenizer(text, add_special_tokens=False, split_special_tokens=True, verbose=False, **options)


def _ended(lines: Sequence[str]) -> str:
    return "".join(line + BLANK_LINE for line in lines)
