"""Twenty raters coding at once, one decision per second each, through Label Studio on SQLite.

    python -m benchmarks.raters_bench [--raters 20] [--seconds 20] [--units 92] [--units 1000]

Target: no error, nothing lost, p95 <= 250 ms from sending a decision to the server's answer. Prints JSON.
"""

import json
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from tests.label_studio_server import LabelStudioServer
from tests.studio.studio_projects import Projects, Rater, conversation


@click.command()
@click.option("--raters", default=20, show_default=True)
@click.option("--seconds", default=20, show_default=True)
@click.option("--units", multiple=True, type=int, default=(92, 1000), show_default=True)
def main(raters: int, seconds: int, units: tuple[int, ...]) -> None:
    """Print the figures, one JSON object per length of conversation."""
    with (
        tempfile.TemporaryDirectory() as folder,
        LabelStudioServer(Path(folder) / "data", plugin=True) as server,
        Projects(server) as projects,
    ):
        for length in units:
            project = projects.make([conversation(f"b{length}", turns=1, units=length)], raters=raters)
            (task,) = project.tasks
            windows = [project.sign_in(number) for number in range(raters)]
            with ThreadPoolExecutor(raters) as pool:
                started = [pool.submit(code, each, task, length, seconds, n) for n, each in enumerate(windows)]
                taken = [milliseconds for each in started for milliseconds in each.result()]
            kept = sum(bool(row["labels"]) for row in projects.log(project))
            cuts = statistics.quantiles(taken, n=100)
            found = {"units": length, "raters": raters, "decisions": len(taken), "kept": kept}
            click.echo(json.dumps({**found, "p50_ms": round(cuts[49], 1), "p95_ms": round(cuts[94], 1)}))


def code(rater: Rater, task: int, length: int, seconds: int, number: int) -> list[float]:
    """Milliseconds of each decision; raters begin spread over a second, as people do."""
    time.sleep(number % 20 / 20)
    taken = []
    for unit in range(seconds):
        began = time.monotonic()
        rater.decide(task, f"b{length}-0-{unit}", "R")
        taken.append((time.monotonic() - began) * 1000)
        time.sleep(max(0.0, began + 1 - time.monotonic()))
    return taken


if __name__ == "__main__":
    main()
