"""Answers that were paid for, kept in SQLite the moment they arrive."""

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Column, DateTime, Integer, MetaData, String, Table, Text, create_engine, event, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DatabaseError

from convolabel.errors import InputError
from convolabel.llm.completion import Completion

_METADATA = MetaData()
_ANSWERS = Table(
    "answers",
    _METADATA,
    Column("key", String(64), primary_key=True),
    Column("model", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("arrived_at", DateTime, nullable=False, server_default=func.current_timestamp()),
    sqlite_with_rowid=False,
)


def answer_key(model: str, parameters: Mapping[str, Any], prompt: str) -> str:
    """SHA-256 over all that shapes an answer; prompts themselves are not kept."""
    question = json.dumps([model, dict(parameters), prompt], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(question.encode()).hexdigest()


class AnswerCache:
    """Answers by `answer_key`. Safe to use from several threads and processes; survives a kill at any moment.

    Raises `InputError` when `path` cannot be opened or holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": 30})
        event.listen(self._engine, "connect", _tune)
        self._writing = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            _METADATA.create_all(self._engine)
        except (OSError, DatabaseError):
            raise InputError(
                f"{path} is not a readable store of answers; check the folder, or move the file away to start afresh."
            ) from None

    def get(self, key: str) -> Completion | None:
        wanted = select(_ANSWERS.c.text, _ANSWERS.c.input_tokens, _ANSWERS.c.output_tokens)
        with self._engine.connect() as connection:
            row = connection.execute(wanted.where(_ANSWERS.c.key == key)).one_or_none()
        return None if row is None else Completion(row.text, row.input_tokens, row.output_tokens, was_stored=True)

    def put(self, key: str, model: str, completion: Completion) -> None:
        answer = {
            "text": completion.text,
            "input_tokens": completion.input_tokens,
            "output_tokens": completion.output_tokens,
        }
        statement = insert(_ANSWERS).values(key=key, model=model, **answer)
        # the lock keeps our own threads from waiting in SQLite's coarse sleep
        with self._writing, self._engine.begin() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_=answer))

    def discard(self, key: str) -> None:
        """Forget an answer that proved of no use, so that the next run asks again."""
        with self._writing, self._engine.begin() as connection:
            connection.execute(_ANSWERS.delete().where(_ANSWERS.c.key == key))

    def __len__(self) -> int:
        with self._engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(_ANSWERS)).scalar_one()

    def close(self) -> None:
        self._engine.dispose()


def _tune(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()
