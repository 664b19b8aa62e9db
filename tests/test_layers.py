"""How the rooms hang together: what loads what, how long a file may be, and what no file may hold."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("convolabel", "importers", "label_config", "ml_backend", "evaluators")
HEAVY = (
    *("torch", "transformers", "sentence_transformers", "pandas", "numpy", "pyarrow"),
    *("openai", "google.genai", "django", "flask", "label_studio_sdk", "label_studio", "sqlalchemy"),
)


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, ast.AST | None]]:
    """Every module a file imports when it runs, with the function that does it (`None` at the top)."""

    def walk(node: ast.AST, function: ast.AST | None) -> Iterator[tuple[str, ast.AST | None]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.Import):
                yield from ((alias.name, function) for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.level == 0:
                yield child.module or "", function
                yield from ((f"{child.module}.{alias.name}", function) for alias in child.names)
            inside = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
            yield from walk(child, inside)

    return walk(ast.parse(path.read_text(encoding="utf-8")), None)


def is_or_is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("module", ["convolabel", "convolabel.cli", "convolabel.votes_files"])
def test_nothing_heavy_loads_with_the_core(module: str) -> None:
    code = f"import sys, {module}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert module in loaded
    assert [name for name in loaded if any(is_or_is_below(name, heavy) for heavy in HEAVY)] == []


@pytest.mark.parametrize("room", ["ml_backend", "evaluators"])
def test_scoring_and_evaluation_know_nothing_of_label_studios_side(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules(room)
        for name, _ in imports(path)
        if any(is_or_is_below(name, package) for package in ("label_config", "django", "rest_framework"))
    ]
    assert wrong == []


def test_the_core_imports_no_other_room_but_the_command_line_inside_functions() -> None:
    others = [room for room in ROOMS if room != "convolabel"]
    wrong = []
    for path in modules("convolabel"):
        is_cli = path.relative_to(ROOT / "convolabel").parts[0].startswith("cli")
        for name, function in imports(path):
            if any(is_or_is_below(name, room) for room in others) and not (is_cli and function is not None):
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert wrong == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_is_longer_than_450_lines(room: str) -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in modules(room)}
    assert {name: length for name, length in lengths.items() if length > 450} == {}


def test_product_code_never_imports_the_cross_checks_of_the_tests() -> None:
    packages = ("krippendorff", "pytest", "hypothesis")
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for room in ROOMS
        for path in modules(room)
        for name, _ in imports(path)
        if any(is_or_is_below(name, package) for package in packages)
    ]
    assert wrong == []


def test_no_file_holds_the_path_of_somebodys_home() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, cwd=ROOT, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    home = re.compile(rb"/(?:(?:home|Users)/[A-Za-z0-9_.-]+|root)/|[A-Z]:\\Users\\")
    own = Path(__file__).relative_to(ROOT)
    wrong = [
        name
        for name in listed.stdout.decode().split("\0")
        if name and Path(name) != own and (ROOT / name).is_file() and home.search((ROOT / name).read_bytes())
    ]
    assert wrong == []
