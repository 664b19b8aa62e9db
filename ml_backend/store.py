"""The suggestion store: answers that were computed, in SQLite, keyed by everything that shaped them."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Column, Integer, MetaData, String, Table, Text, create_engine, event, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DatabaseError

from convolabel.errors import InputError
from ml_backend.suggestion import SUGGESTIONS, Suggestions

_METADATA = MetaData()
_SUGGESTIONS = Table(
    "suggestions",
    _METADATA,
    Column("study", String, primary_key=True),
    Column("conversation", String, primary_key=True),
    Column("span_id", String, primary_key=True),
    Column("rev", Integer, primary_key=True),
    Column("model", String, primary_key=True),
    Column("prompt_version", String, primary_key=True),
    Column("context", String, primary_key=True),
    Column("answer", Text, nullable=False),
    sqlite_with_rowid=False,
)


@dataclass(frozen=True)
class StoreKey:
    """One unit in one revision, and what was asked about it: another key is another question.

    `context` is the fingerprint of what the provider could read (`Context.fingerprint`).
    """

    study: str
    conversation: str
    span_id: str
    rev: int
    model: str
    prompt_version: str
    context: str


class SuggestionStore:
    """Answers by `StoreKey`, an abstention being the empty answer. Safe to use from several threads.

    Raises `InputError` when `path` cannot be opened or is not a store.
    """

    def __init__(self, path: Path) -> None:
        self._engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": 10})
        event.listen(self._engine, "connect", _tune)
        try:
            path.touch(mode=0o600)
            _METADATA.create_all(self._engine)
        except (OSError, DatabaseError):
            raise InputError(
                f"{path} is not a readable suggestion store; check the folder, or move the file away to start afresh."
            ) from None

    def get(self, key: StoreKey) -> Suggestions | None:
        """The stored answer, or None when the question was never answered."""
        query = select(_SUGGESTIONS.c.answer).where(*(_SUGGESTIONS.c[name] == at for name, at in asdict(key).items()))
        with self._engine.connect() as connection:
            answer = connection.execute(query).scalar_one_or_none()
        return None if answer is None else SUGGESTIONS.validate_json(answer)

    def put(self, key: StoreKey, answer: Suggestions) -> None:
        """Store an answer; the first one given for a key stays."""
        row = {**asdict(key), "answer": SUGGESTIONS.dump_json(answer).decode()}
        with self._engine.begin() as connection:
            connection.execute(insert(_SUGGESTIONS).values(row).on_conflict_do_nothing())

    def close(self) -> None:
        self._engine.dispose()


def _tune(connection: Any, _record: Any) -> None:
    # an answer lost in a power cut is computed again, so a commit need not wait for the disk
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
