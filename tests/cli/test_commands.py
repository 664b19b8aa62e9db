"""The command line as its users meet it: exit codes, sentences, JSON."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from convolabel.cli import cli, main
from convolabel.cli.processes import require_free_port
from convolabel.errors import InputError

SAMPLE = Path(__file__).resolve().parents[2] / "convolabel" / "sample" / "conversations.json"
FAULTY = {
    "schema_version": "1.0",
    "items": [
        {
            "id": "x",
            "content": {
                "messages": [
                    {
                        "role": "client",
                        "content": "Ja.",
                        "labelable": True,
                        "spans": [{"span_id": "x-1", "start": 0, "end": 4}],
                    }
                ]
            },
        }
    ],
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Run a command as the shell does: (exit code, stdout, stderr)."""

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["convolabel", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return int(stopped.value.code or 0), printed.out, printed.err

    return command


def test_every_listed_command_has_a_help_text() -> None:
    for name, command in cli.commands.items():
        shown = CliRunner().invoke(cli, [name, "--help"])
        assert shown.exit_code == 0
        assert command.help, name


def test_validate_counts_what_is_valid(run) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run("validate", str(SAMPLE))
    assert code == 0
    assert "8 conversations with 325 units are valid, 0 faults" in out


def test_validate_lists_faults_and_exits_2(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "faulty.json"
    path.write_text(json.dumps(FAULTY))
    code, out, _ = run("validate", str(path))
    assert code == 2
    assert "item x, message 1, span x-1: span_outside_text" in out
    assert "text length 3" in out
    code, out, _ = run("validate", "--json", str(path))
    document = json.loads(out)
    assert code == 2
    assert document["faults"][0]["rule"] == "span_outside_text"
    assert (document["conversations"], document["units"]) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["validate", "nowhere.json"], "Cannot read nowhere.json"),
        (["create", "nowhere.yaml"], "Cannot read nowhere.yaml"),
        (["agreement", "votes.txt"], "votes.txt"),
        (["no-such-command"], "No such command"),
        (["validate"], "Missing argument"),
    ],
)
def test_wrong_input_is_a_sentence_and_exit_code_2(run, arguments: list[str], sentence: str) -> None:  # type: ignore[no-untyped-def]
    code, _, err = run(*arguments)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err


def test_a_study_command_without_a_token_says_which_variable(run, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    study = tmp_path / "study.yaml"
    study.write_text("study: s\ncodebook: vrm-intent\n")
    code, _, err = run("export", str(study), "-o", str(tmp_path / "votes.csv"))
    assert code == 2
    assert "LABEL_STUDIO_API_KEY" in err


def test_a_server_that_is_not_there_is_exit_code_3(run, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "0" * 40)
    study = tmp_path / "study.yaml"
    study.write_text("study: s\ncodebook: vrm-intent\nlabel_studio: {url: 'http://127.0.0.1:9'}\n")
    code, _, err = run("progress", str(study))
    assert code == 3
    assert "http://127.0.0.1:9" in err
    assert "0" * 40 not in err


def test_ctrl_c_is_exit_code_130(run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("convolabel.conversation_files.read_conversations", interrupted)
    assert run("validate", str(SAMPLE))[0] == 130


def test_import_of_faulty_files_imports_nothing(run, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Refused before Label Studio is even asked: no server is there to be asked."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "0" * 40)
    study, path = tmp_path / "study.yaml", tmp_path / "faulty.json"
    study.write_text("study: s\ncodebook: vrm-intent\nlabel_studio: {url: 'http://127.0.0.1:9'}\n")
    path.write_text(json.dumps(FAULTY))
    code, _, err = run("import", str(study), str(path))
    assert code == 2
    assert "span_outside_text" in err
    assert "Nothing was imported: 1 faults in 1 conversations" in err


def test_a_busy_port_is_named(unused_port: int) -> None:
    require_free_port("127.0.0.1", unused_port, "the scoring server", "--copilot-port")
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", unused_port))
        taken.listen()
        with pytest.raises(InputError, match=rf"Port {unused_port} .*scoring server.*--copilot-port"):
            require_free_port("127.0.0.1", unused_port, "the scoring server", "--copilot-port")


@pytest.fixture
def unused_port() -> int:
    from tests.label_studio_server import free_port

    return free_port()
