"""An exported votes table as a corpus: what it tells about the conversations, and the votes themselves."""

from collections.abc import Sequence
from pathlib import Path

from convolabel.votes_files import read_votes
from convolabel.votes_table import Vote
from evaluators.corpus.model import Corpus, Speaker, Utterance


def read_votes_table(path: Path, corpus: Corpus) -> None:
    """Fill `corpus` from a votes table. Raises `InputError`."""
    fill_from_votes(read_votes(path), corpus)


def fill_from_votes(votes: Sequence[Vote], corpus: Corpus) -> None:
    """Add the messages that were coded, each with its votes in `meta["votes"]`.

    A votes table holds spans, not messages: an utterance's text is its spans in order, joined by a space, and a
    message without a decided span is missing, which `conversation.meta["is_excerpt"]` says. Messages stand in the
    table's order. Give the conversation file to the evaluators where it is at hand.
    """
    conversations: dict[str, dict[str, list[Vote]]] = {}
    for vote in votes:
        conversations.setdefault(vote.conversation_id, {}).setdefault(vote.message_id, []).append(vote)
    for conversation_id, messages in conversations.items():
        utterances: list[Utterance] = []
        for message_id, rows in messages.items():
            speaker = corpus.speakers.setdefault(rows[0].speaker, _speaker(rows[0]))
            utterances.append(
                Utterance(
                    f"{conversation_id}.{message_id}",
                    speaker,
                    conversation_id,
                    text=" ".join(_spans(rows)),
                    reply_to=utterances[-1].id if utterances else None,
                    meta={"message_id": message_id, "votes": [_shown(row) for row in rows]},
                )
            )
        label = next(iter(messages.values()))[0].conversation_label
        meta = {"is_excerpt": True, **({"label": label} if label else {})}
        corpus.add_utterances(utterances, {conversation_id: (meta, {})})


def attach_votes(votes: Sequence[Vote], corpus: Corpus) -> int:
    """Put votes into `meta["votes"]` of the utterances they are about; returns how many have no such utterance."""
    places = {
        (utterance.conversation_id, str(utterance.meta.get("message_id", utterance.id))): utterance
        for utterance in corpus.iter_utterances()
    }
    strays = 0
    for vote in votes:
        utterance = places.get((vote.conversation_id, vote.message_id))
        if utterance is None:
            strays += 1
        else:
            utterance.meta.setdefault("votes", []).append(_shown(vote))
    return strays


def _spans(rows: Sequence[Vote]) -> list[str]:
    """Each span once, in order of its place; of several revisions the latest."""
    latest: dict[str, Vote] = {}
    for row in rows:
        if row.span_id not in latest or row.span_rev > latest[row.span_id].span_rev:
            latest[row.span_id] = row
    return [row.span_text for row in sorted(latest.values(), key=lambda row: row.span_start)]


def _speaker(row: Vote) -> Speaker:
    return Speaker(row.speaker, ai_meta={} if row.speaker_role is None else {"role": row.speaker_role})


def _shown(row: Vote) -> dict[str, object]:
    return {
        "rater_id": row.rater_id,
        "span_id": row.span_id,
        "span_rev": row.span_rev,
        "start": row.span_start,
        "end": row.span_end,
        "dimension": row.dimension,
        "category": row.category,
        "unsure": row.unsure,
    }
