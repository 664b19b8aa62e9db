from hypothesis import given
from hypothesis import strategies as st

from evaluators.models.scoring_window import Context, fitted, shared_beginning

TOKENS = st.lists(st.integers(0, 3), max_size=30).map(tuple)


@st.composite
def contexts(draw: st.DrawFn) -> Context:
    tokens = draw(TOKENS)
    return Context(tokens, draw(st.integers(0, len(tokens))))


@given(st.lists(contexts(), min_size=1, max_size=3), TOKENS.filter(bool), st.integers(4, 90))
def test_everything_fits_and_what_is_left_is_the_end_of_contexts_and_the_beginning_of_the_reply(
    given_contexts: list[Context], reply: tuple[int, ...], room: int
) -> None:
    cut = fitted(given_contexts, reply, room)
    assert cut.reply == reply[: len(cut.reply)] != ()
    assert cut.reply_tokens_cut == len(reply) - len(cut.reply)
    for context, kept in zip(given_contexts, cut.contexts, strict=True):
        assert len(kept) + len(cut.reply) <= room
        assert kept == context.tokens[len(context.tokens) - len(kept) :]
        own = len(context.tokens) - context.own
        # a turn is cut only when it leaves less than half of the room for the reply
        assert len(kept) >= own or (own > room - len(reply) and own > room - room // 2)
    if max(len(each.tokens) for each in given_contexts) + len(reply) <= room:
        assert (cut.context_tokens_cut, cut.reply_tokens_cut) == (0, 0)


def test_background_is_cut_by_the_same_in_both_contexts() -> None:
    # 6 of background and 4 or 2 of their own; room for 9 with a reply of 3: 10 + 3 - 9 = 4 too many
    long, short = Context((1, 1, 1, 1, 2, 2, 7, 7, 7, 7), 6), Context((1, 1, 1, 1, 2, 2, 8, 8), 6)
    cut = fitted([long, short], (5, 5, 5), 9)
    assert cut.contexts == ((2, 2, 7, 7, 7, 7), (2, 2, 8, 8))
    assert (cut.reply, cut.context_tokens_cut, cut.reply_tokens_cut) == ((5, 5, 5), 4, 0)


@given(st.lists(TOKENS, min_size=1, max_size=3))
def test_a_shared_beginning_leaves_every_sequence_a_token(sequences: list[tuple[int, ...]]) -> None:
    shared = shared_beginning(sequences)
    assert 0 <= shared <= max(min(map(len, sequences)) - 1, 0)
    assert len({each[:shared] for each in sequences}) == 1
