"""The suggestion store: every part of the key counts, the first answer stays, abstentions are answers."""

from dataclasses import replace
from pathlib import Path

import pytest

from ml_backend.store import StoreKey, SuggestionStore
from ml_backend.suggestion import Evidence, Suggestion

KEY = StoreKey("demo", "talk-1", "u0", 1, "model", "version", "context")
EVIDENCE = Evidence(text="Was nun?\r\n👍🏽 <b>", message=0, start=18, end=32, verbatim=True)
ANSWER = (Suggestion(dimension="intent", label="Q", rationale="“{x}” %s", confidence="high", evidence=EVIDENCE),)


def test_answers_come_back_unchanged(tmp_path: Path) -> None:
    store = SuggestionStore(tmp_path / "store.sqlite")
    assert store.get(KEY) is None
    store.put(KEY, ANSWER)
    store.put(replace(KEY, span_id="u1"), ())
    store.close()
    again = SuggestionStore(tmp_path / "store.sqlite")
    assert again.get(KEY) == ANSWER
    assert again.get(replace(KEY, span_id="u1")) == ()
    again.close()


@pytest.mark.parametrize("field", ["study", "conversation", "span_id", "model", "prompt_version", "context", "rev"])
def test_every_part_of_the_key_counts(tmp_path: Path, field: str) -> None:
    store = SuggestionStore(tmp_path / "store.sqlite")
    store.put(KEY, ANSWER)
    changed = StoreKey(**{**vars(KEY), field: 2 if field == "rev" else "other"})
    assert store.get(changed) is None
    store.close()


def test_the_first_answer_stays_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    store = SuggestionStore(tmp_path / "store.sqlite")
    store.put(KEY, ANSWER)
    store.put(KEY, ())
    assert store.get(KEY) == ANSWER
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    store.close()
