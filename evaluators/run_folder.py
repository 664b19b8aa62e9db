"""The folder of a run: answers as they arrive, then tables and the report. A killed run goes on from it."""

import csv
import io
import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from convolabel.errors import InputError
from convolabel.llm.cache import AnswerCache
from evaluators.run_report import RunReport


class RunFolder:
    """`path` is made when it does not exist. Raises `InputError` when it cannot be."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"Cannot make the folder {self.path}: {error.strerror}; choose another place.") from None

    @cached_property
    def answers(self) -> AnswerCache:
        """`answers.sqlite`: the answers of language models, and anything else worth keeping under a key."""
        return AnswerCache(self.path / "answers.sqlite")

    def write_report(self, report: RunReport) -> Path:
        return self.write_json(f"{report.evaluator}_report.json", report.as_dict())

    def write_json(self, name: str, value: Any) -> Path:
        """Replaced as a whole. NaN and infinity are refused with `ValueError`."""
        return self._replace(name, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")

    def write_table(self, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Path:
        """CSV (UTF-8, RFC 4180); `None` is an empty cell, booleans are `true` and `false`. Replaced as a whole."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
        return self._replace(name, text.getvalue())

    def _replace(self, name: str, text: str) -> Path:
        path = self.path / name
        part = path.with_name(f".{name}.{secrets.token_hex(4)}.part")
        try:
            with part.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            raise InputError(f"Cannot write {path}: {error.strerror}; choose another place.") from None
        finally:
            part.unlink(missing_ok=True)
        return path


def _cell(value: Any) -> Any:
    return ("true" if value else "false") if isinstance(value, bool) else value
