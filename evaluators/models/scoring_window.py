"""Token sequences that fit the window of a model: the background goes first, a turn and the reply to it stay."""

from collections.abc import Sequence
from typing import NamedTuple

Tokens = tuple[int, ...]


class Context(NamedTuple):
    """Tokens of a context, the blank line before the reply among them; those before `own` are background."""

    tokens: Tokens
    own: int


class Fitted(NamedTuple):
    """Contexts in the order given, and the reply, with the number of tokens that were cut."""

    contexts: tuple[Tokens, ...]
    reply: Tokens
    context_tokens_cut: int
    reply_tokens_cut: int


def fitted(contexts: Sequence[Context], reply: Tokens, room: int) -> Fitted:
    """Cut to `room` tokens, the same of the reply and of the background in every context, so that they compare.

    Background is cut from its beginning. When that is not enough, the reply is cut at its end, to no less than half
    of the room; a context that leaves no more than that for the reply is cut from its beginning.
    """
    longest = max(len(each.tokens) for each in contexts)
    cut = min(max(longest + len(reply) - room, 0), min(each.own for each in contexts))
    kept_reply = reply[: max(room - (longest - cut), room // 2)]
    for_context = room - len(kept_reply)
    kept = tuple(_end(each.tokens[cut:], for_context) for each in contexts)
    lost = max(len(each.tokens) - len(rest) for each, rest in zip(contexts, kept, strict=True))
    return Fitted(kept, kept_reply, lost, len(reply) - len(kept_reply))


def shared_beginning(sequences: Sequence[Tokens]) -> int:
    """The number of tokens with which all begin, less than the length of the shortest."""
    limit = min(map(len, sequences)) - 1
    for place in range(limit):
        if len({each[place] for each in sequences}) > 1:
            return place
    return max(limit, 0)


def _end(tokens: Tokens, length: int) -> Tokens:
    return tokens[max(len(tokens) - length, 0) :]
