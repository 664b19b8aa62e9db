"""What `make bench` runs: every benchmark in turn, each in a process of its own, figures as JSON lines.

    python -m benchmarks [NAME ...]

Targets stand in docs/benchmarks.md. A benchmark on data that is not part of the project is left out, with a line
saying so, where the data is not there: its folder is named by CONVOLABEL_SHARED, or is `../shared`.
"""

import os
import subprocess
import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS: dict[str, list[str]] = {
    "coding": ["benchmarks.coding_bench"],
    "annomi": ["benchmarks.coding_bench", "--keys", "60", "--conversations", "{annomi}"],
    "raters": ["benchmarks.raters_bench"],
    "agreement": ["benchmarks.agreement_bench"],
    "claims": ["benchmarks.claims_bench"],
    "claims-64": ["benchmarks.claims_bench", "--workers", "50", "--calls", "64"],
    "redirection": ["benchmarks.redirection_bench"],
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(BENCHMARKS)))
def main(names: tuple[str, ...]) -> None:
    """Run the benchmarks NAMES, by default all of them."""
    click.echo(f"load average before: {', '.join(f'{each:.1f}' for each in os.getloadavg())}")
    failed = [name for name in names or BENCHMARKS if not run(name)]
    click.echo(f"load average after: {', '.join(f'{each:.1f}' for each in os.getloadavg())}")
    if failed:
        raise click.ClickException(f"{', '.join(failed)} did not run through.")


def run(name: str) -> bool:
    click.echo(f"== {name}")
    module, *arguments = BENCHMARKS[name]
    if "{annomi}" in arguments:
        table = annomi_table()
        if table is None:
            click.echo("left out: AnnoMI-full.csv is not below the shared data folder (CONVOLABEL_SHARED)")
            return True
        converted = Path(os.environ.get("TMPDIR", "/tmp")) / "convolabel-annomi.jsonl"
        call("benchmarks.annomi", str(table), "-o", str(converted))
        arguments = [str(converted) if each == "{annomi}" else each for each in arguments]
    return call(module, *arguments)


def call(module: str, *arguments: str) -> bool:
    return subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT).returncode == 0


def annomi_table() -> Path | None:
    shared = Path(os.environ.get("CONVOLABEL_SHARED", ROOT.parent / "shared"))
    table = shared / "data" / "annomi" / "AnnoMI-full.csv"
    return table if table.is_file() else None


if __name__ == "__main__":
    main()
