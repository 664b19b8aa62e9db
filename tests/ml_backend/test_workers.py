"""The pool: each key once, asked-for work first, bounded."""

import threading

import pytest

from ml_backend.workers import OverloadedError, Workers


def test_one_key_is_computed_once() -> None:
    workers: Workers[str, int] = Workers(4)
    gate = threading.Event()
    runs: list[int] = []

    def work() -> int:
        gate.wait(20)
        runs.append(1)
        return 42

    futures = [workers.compute("a", work) for _ in range(10)]
    gate.set()
    assert [future.result(20) for future in futures] == [42] * 10
    assert len(runs) == 1
    workers.close()


def test_work_ahead_moves_up_when_asked_for() -> None:
    workers: Workers[str, str] = Workers(8)
    gate = threading.Event()
    workers.compute_ahead("blocker", lambda: str(gate.wait(20)))
    workers.compute_ahead("wanted", lambda: "ahead")
    assert workers.compute("wanted", lambda: "asked").result(20) == "asked"
    gate.set()
    workers.close()


def test_running_work_ahead_is_shared() -> None:
    workers: Workers[str, str] = Workers(8)
    gate, begun = threading.Event(), threading.Event()

    def ahead() -> str:
        begun.set()
        gate.wait(20)
        return "ahead"

    workers.compute_ahead("wanted", ahead)
    begun.wait(20)
    future = workers.compute("wanted", lambda: "asked")
    gate.set()
    assert future.result(20) == "ahead"
    workers.close()


def test_bounds() -> None:
    workers: Workers[int, bool] = Workers(4)
    gate = threading.Event()
    for key in range(4):
        workers.compute(key, lambda: gate.wait(20))
    with pytest.raises(OverloadedError):
        workers.compute(9, lambda: True)
    assert workers.compute(3, lambda: True) is workers.compute(3, lambda: True)
    ran: list[int] = []
    workers.compute_ahead(8, lambda: bool(ran.append(8)))
    gate.set()
    workers.close()
    assert ran == []


def test_a_failed_key_can_be_asked_again() -> None:
    workers: Workers[str, float] = Workers(1)
    with pytest.raises(ZeroDivisionError):
        workers.compute("a", lambda: 1 / 0).result(20)
    assert workers.compute("a", lambda: 1.0).result(20) == 1.0
    workers.close()


def test_what_was_computed_ahead_is_ordinary_work_when_asked_for_later() -> None:
    workers: Workers[str, bool] = Workers(8)
    done, gate = threading.Event(), threading.Event()
    workers.compute_ahead("a", lambda: bool(done.set()))
    done.wait(20)
    while "a" in workers._under_way:
        threading.Event().wait(0.001)
    for blocker in ("x", "y"):  # both threads are taken, so the next one has to wait
        workers.compute(blocker, lambda: gate.wait(20))
    waiting = workers.compute("a", lambda: True)
    assert workers.compute("a", lambda: False) is waiting
    gate.set()
    assert waiting.result(20)
    workers.close()
