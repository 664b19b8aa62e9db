"""The command `redirection` from end to end, in processes of its own, on the tiny model."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.redirection.plain_likelihood import TINY_LM
from tests.reference_corpora import reference

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "tests" / "data" / "reference"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "convolabel", "redirection", *map(str, arguments)]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_and_report(tmp_path: Path) -> None:
    output = tmp_path / "run"
    done = run(REFERENCE / "c01_basic3.conversations.json", "-o", output, "--model", TINY_LM, "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert "1 complete" in done.stdout
    assert "Scoring: 1 of 1" in done.stderr
    expected = reference("c01_basic3").expected["conversations"]["basic3"]["redirection"]["prev"]["scored"]
    rows = table(output / "redirection_turns.csv")
    assert [(row["utterance_id"], row["position"], row["status"]) for row in rows] == [
        ("basic3.u4", "4", "complete"),
        ("basic3.u9", "9", "complete"),
        ("basic3.u13", "13", "complete"),
    ]
    for row in rows:
        clean = expected[row["utterance_id"]]
        assert float(row["actual_log_probability"]) == pytest.approx(clean["clean_logp"][0], abs=1e-3)
        assert float(row["reference_log_probability"]) == pytest.approx(clean["clean_logp"][1], abs=1e-3)
        assert float(row["redirection"]) == pytest.approx(float(row["per_token"]) * int(row["reply_tokens"]))
    (summary,) = table(output / "redirection_summary.csv")
    assert summary["n_scored"] == "3"
    mean = sum(float(row["redirection"]) for row in rows) / 3
    assert float(summary["redirection_mean"]) == pytest.approx(mean)
    assert json.loads((output / "redirection_report.json").read_text())["conversations"] == {"complete": 1}


def test_options_reach_the_scores(tmp_path: Path) -> None:
    corpus = REFERENCE / "c16_long.conversations.json"
    options = ("--counterfactual", "delete", "--normalize", "token", "--max-length", "512", "--device", "cpu")
    done = run(corpus, "-o", tmp_path, "--model", TINY_LM, *options, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["counts"]["turns whose reply was cut to the model's window"] == 2
    rows = table(tmp_path / "redirection_turns.csv")
    assert all(row["redirection"] == row["per_token"] for row in rows)


def test_a_dry_run_loads_no_model_and_makes_no_folder(tmp_path: Path) -> None:
    corpus, output = REFERENCE / "c01_basic3.conversations.json", tmp_path / "run"
    done = run(corpus, "-o", output, "--dry-run", "--model", "no/such-model", "--json")
    assert done.returncode == 0, done.stderr
    scored = reference("c01_basic3").expected["conversations"]["basic3"]["redirection"]["prev"]["scored"].values()
    read = sum(len(line) for each in scored for lines in (each["actual"], each["reference"]) for line in lines)
    replies = sum(2 * len(each["future"][0]) for each in scored)
    assert json.loads(done.stdout)["estimate"] == {
        "conversations": 1,
        "mediator_turns": 3,
        "sequences": 6,
        "characters": read + replies,
    }
    assert not output.exists()
    assert "3 mediator turns" in run(corpus, "-o", output, "--dry-run").stdout


def test_a_model_that_is_not_there_exits_with_3_and_bad_input_with_2(tmp_path: Path) -> None:
    corpus = REFERENCE / "c01_basic3.conversations.json"
    missing = run(corpus, "-o", tmp_path, "--model", tmp_path / "nowhere")
    assert (missing.returncode, "nowhere" in missing.stderr, "Traceback" in missing.stderr) == (3, True, False)
    assert run(tmp_path / "none.json", "-o", tmp_path).returncode == 2
    assert run(corpus, "-o", tmp_path, "--max-length", "3").returncode == 2


def test_other_roles_of_mediators(tmp_path: Path) -> None:
    done = run(
        REFERENCE / "c05_dup_names.conversations.json",
        *("-o", tmp_path, "--counterfactual", "delete", "--mediator-role", "moderator", "--dry-run", "--json"),
    )
    assert json.loads(done.stdout)["estimate"]["mediator_turns"] == 0


def many_talks(path: Path, count: int) -> Path:
    def message(talk: int, place: int) -> dict[str, Any]:
        return {
            "speaker": "bot" if place % 2 else "ann",
            "content": f"In talk {talk} I say thing {place} about it. " * 8,
        }

    speakers = {"bot": {"role": "public assistant"}, "ann": {"role": "participant"}}
    items = [
        {
            "id": f"t{number}",
            "speakers": speakers,
            "content": {"messages": [message(number, place) for place in range(11)]},
        }
        for number in range(count)
    ]
    path.write_text(json.dumps({"schema_version": "1.0", "items": items}), encoding="utf-8")
    return path


def stopped_in_the_middle(arguments: tuple[str | Path, ...], sent: signal.Signals) -> tuple[int, str]:
    """Exit code and standard error of a run that gets a signal after ten conversations."""
    running = subprocess.Popen(
        command(*arguments), cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("Scoring: 10 of"):
            running.send_signal(sent)
            break
    _, rest = running.communicate(timeout=120)
    return running.returncode, rest


def test_after_a_kill_no_finished_conversation_is_computed_again_and_scores_are_the_same(tmp_path: Path) -> None:
    corpus = many_talks(tmp_path / "talks.json", 60)
    arguments = (corpus, "-o", tmp_path / "killed", "--model", TINY_LM, "--device", "cpu", "--counterfactual", "delete")
    code, _ = stopped_in_the_middle(arguments, signal.SIGKILL)
    assert code == -signal.SIGKILL
    finished = run(*arguments, "--json")
    assert finished.returncode == 0, finished.stderr
    report = json.loads(finished.stdout)
    assert report["conversations"] == {"complete": 60}
    # five turns of the mediator in each
    assert report["counts"]["turns taken from the store"] >= 5 * 10
    assert report["counts"]["turns taken from the store"] < 5 * 60
    whole = run(corpus, "-o", tmp_path / "whole", *arguments[3:])
    assert whole.returncode == 0
    for name in ("redirection_turns.csv", "redirection_summary.csv"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_ctrl_c_exits_with_130_after_writing(tmp_path: Path) -> None:
    corpus = many_talks(tmp_path / "talks.json", 60)
    arguments = (corpus, "-o", tmp_path / "run", "--model", TINY_LM, "--device", "cpu", "--counterfactual", "delete")
    code, errors = stopped_in_the_middle(arguments, signal.SIGINT)
    assert code == 130
    assert "not reached" in errors
    rows = table(tmp_path / "run" / "redirection_turns.csv")
    done = len({row["conversation_id"] for row in rows})
    assert 10 <= done < 60
    assert len(rows) == 5 * done
    assert run(*arguments).returncode == 0
    assert len(table(tmp_path / "run" / "redirection_turns.csv")) == 5 * 60


def test_scores_of_an_earlier_run_stay_where_a_run_fails(tmp_path: Path) -> None:
    corpus = REFERENCE / "c01_basic3.conversations.json"
    first = ("-o", tmp_path, "--model", TINY_LM, "--device", "cpu")
    assert run(corpus, *first).returncode == 0
    before = table(tmp_path / "redirection_turns.csv")
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in TINY_LM.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    # weights that are not numbers: no score is finite
    _spoil(broken)
    failed = run(corpus, "-o", tmp_path, "--model", broken, "--device", "cpu")
    assert failed.returncode == 3, failed.stderr
    assert "not finite" in failed.stdout
    after = table(tmp_path / "redirection_turns.csv")
    assert [{**row, "status": "stale"} for row in before] == after


def _spoil(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"][:] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
