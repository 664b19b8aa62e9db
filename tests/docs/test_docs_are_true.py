"""What the documentation tells people to type works, and what it lists is what there is."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from convolabel.cli import cli
from convolabel.codebook import Codebook, shipped_codebook
from convolabel.settings_file import validate
from convolabel.study import Study
from convolabel.validation import RULES
from convolabel.votes_table import COLUMNS
from tests.label_studio_server import LabelStudioServer

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SAMPLE = ROOT / "convolabel" / "sample" / "conversations.json"


def blocks(page: Path, language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(page: Path) -> None:
    for line in "\n".join(blocks(page)).splitlines():
        if not re.search(r"(^|[\s;])convolabel ", line):
            continue
        words = shlex.split(line, comments=True)
        name, *arguments = words[words.index("convolabel") + 1 :]
        command = cli.commands[name]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {argument for argument in arguments if argument.startswith("-")} <= known, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_format_page_lists_every_rule() -> None:
    page = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"| `{rule}` |" not in page] == []


def test_the_votes_table_page_lists_every_column_in_order() -> None:
    page = (ROOT / "docs" / "votes-table.md").read_text(encoding="utf-8")
    listed = [name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert listed == list(COLUMNS)


def test_the_study_file_and_the_codebook_of_the_managers_page_are_valid() -> None:
    study, codebook = (yaml.safe_load(text) for text in blocks(ROOT / "docs" / "manager.md", "yaml"))
    validate(Codebook, codebook, "docs/manager.md")
    assert study["codebook"] == "vrm-intent"
    shipped = shipped_codebook("vrm-intent").model_dump(exclude_unset=True)
    parsed = validate(Study, {**study, "codebook": shipped}, "docs/manager.md")
    assert set(study) == set(Study.model_fields), "the page shows every key"
    assert parsed.copilot is not None
    assert set(study["copilot"]) == set(type(parsed.copilot).model_fields)


@pytest.mark.studio
def test_the_whole_way_of_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    (way,) = [text for text in blocks(ROOT / "README.md") if "convolabel create" in text]
    (tmp_path / "conversations.json").write_bytes(SAMPLE.read_bytes())
    with LabelStudioServer(tmp_path / "data", plugin=True) as server:
        (tmp_path / "study.yaml").write_text(
            f"study: readme\ncodebook: vrm-intent\nlabel_studio: {{url: '{server.url}'}}\n"
            "raters: [{email: r1@example.com}, {email: r2@example.com}]\n"
        )
        environment = {
            **os.environ,
            "LABEL_STUDIO_API_KEY": server.token,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        outputs = {}
        for line in way.splitlines():
            words = shlex.split(line, comments=True)
            ran = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert ran.returncode == 0, (line, ran.stdout, ran.stderr)
            outputs[words[1]] = ran.stdout
    assert "8 conversations with 325 units are valid" in outputs["validate"]
    assert "8 created, 0 updated, 0 unchanged, 0 refused" in outputs["import"]
    assert "0 votes in votes.csv" in outputs["export"]
