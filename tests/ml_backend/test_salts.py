"""Salts are made once and never change by themselves."""

import threading
from pathlib import Path

import pytest

from convolabel.errors import InputError
from ml_backend.salts import salt_variable, study_salt


def test_made_once_readable_by_the_owner_only(tmp_path: Path) -> None:
    salt = study_salt("exam-talks", tmp_path, {})
    assert len(salt) == 64
    assert study_salt("exam-talks", tmp_path, {}) == salt
    assert study_salt("other", tmp_path, {}) != salt
    assert (tmp_path / "exam-talks.salt").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exam-talks.salt", "other.salt"]


def test_environment_overrides_and_makes_no_file(tmp_path: Path) -> None:
    assert salt_variable("exam-talks") == "CONVOLABEL_SALT_EXAM_TALKS"
    given = {"CONVOLABEL_SALT_EXAM_TALKS": "a-long-enough-secret"}
    assert study_salt("exam-talks", tmp_path, given) == "a-long-enough-secret"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"abc\n", b"\xff\xfe", b"z" * 64])
def test_damaged_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "demo.salt"
    path.write_bytes(content)
    with pytest.raises(InputError, match="restore the file from a backup or set CONVOLABEL_SALT_DEMO"):
        study_salt("demo", tmp_path, {})
    assert path.read_bytes() == content


def test_short_secret_is_refused_without_showing_it(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        study_salt("demo", tmp_path, {"CONVOLABEL_SALT_DEMO": "hunter2"})
    assert "hunter2" not in str(refused.value)


def test_servers_that_start_together_share_one_salt(tmp_path: Path) -> None:
    salts: list[str] = []
    threads = [threading.Thread(target=lambda: salts.append(study_salt("demo", tmp_path, {}))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(salts) == 16
    assert len(set(salts)) == 1
