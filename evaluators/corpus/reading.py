"""Which kind of corpus a path holds."""

from pathlib import Path

from convolabel.errors import InputError
from convolabel.table_files import FORMATS, read_table
from evaluators.corpus.conversation_source import read_conversation_file
from evaluators.corpus.convokit_files import is_convokit_directory, read_convokit
from evaluators.corpus.model import Corpus
from evaluators.corpus.votes_source import read_votes_table


def fill_from(path: Path, corpus: Corpus) -> None:
    """Fill `corpus` from a ConvoKit directory, a conversation file or a votes table. Raises `InputError`."""
    if is_convokit_directory(path):
        read_convokit(path, corpus)
    elif path.is_dir():
        raise InputError(f"{path} is not a ConvoKit corpus: it holds no utterances.jsonl or utterances.json.")
    elif _is_votes_table(path):
        read_votes_table(path, corpus)
    else:
        read_conversation_file(path, corpus)
    if not corpus.conversations:
        raise InputError(f"{path} holds no conversation.")


def _is_votes_table(path: Path) -> bool:
    kind = FORMATS.get(path.suffix.lower())
    return kind in ("csv", "parquet") or (kind == "jsonl" and "rater_id" in read_table(path, ()).columns)
