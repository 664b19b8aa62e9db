"""Commands that start servers: each alone for a deployment, or everything for the demo."""

import os
import sys
from pathlib import Path

import click

from convolabel.credentials import Credentials
from convolabel.errors import InputError

_HOST = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")


@click.command()
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".convolabel/demo"),
    show_default=True,
    help="Where the demo keeps its database, logs and logins; the same folder continues where it was.",
)
@click.option("--port", default=8080, show_default=True, help="Port of Label Studio.")
@click.option("--copilot-port", default=9090, show_default=True, help="Port of the scoring server.")
@click.option("--browser/--no-browser", default=True, help="Open a browser when everything is up.")
def demo(data: Path, port: int, copilot_port: int, browser: bool) -> None:
    """Everything on this machine: Label Studio, co-pilot, sample study, logins. Ctrl-C stops all."""
    from convolabel.cli.demonstration import Demonstration, run

    run(Demonstration(data, port, copilot_port), open_browser=browser)


@click.command(context_settings={"ignore_unknown_options": True})
@_HOST
@click.option("--port", default=8080, show_default=True, help="Port to listen on.")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".convolabel/studio"),
    show_default=True,
    help="Folder of uploads and, on SQLite, of the database.",
)
@click.option("--plugin/--no-plugin", default=True, show_default=True, help="With convolabel's plugin, or stock.")
@click.argument("label_studio_arguments", nargs=-1, type=click.UNPROCESSED)
def studio(host: str, port: int, data: Path, plugin: bool, label_studio_arguments: tuple[str, ...]) -> None:
    """Label Studio with the plugin.

    Settings of Label Studio (database, first account) come from its own environment variables; further arguments go to
    `label-studio start` as they are.
    """
    from label_config.launch import StudioServer, studio_command, studio_environment

    server = StudioServer(data, host, port, plugin=plugin)
    command = [*studio_command(server), *label_studio_arguments]
    data.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    # the shell's signals and exit code are Label Studio's from here on
    os.execve(command[0], command, studio_environment(server))  # noqa: S606


@click.command()
@click.argument("studies", metavar="STUDY.yaml...", nargs=-1, required=True, type=click.Path(path_type=Path))
@_HOST
@click.option("--port", default=9090, show_default=True, help="Port to listen on.")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".convolabel/copilot"),
    show_default=True,
    help="Folder of the suggestion store and the studies' secret salts; keep it, it decides who is a control.",
)
def serve(studies: tuple[Path, ...], host: str, port: int, data: Path) -> None:
    """The scoring server for one or more studies.

    It accepts the user and password in CONVOLABEL_COPILOT_USER and CONVOLABEL_COPILOT_PASSWORD, and nobody else.
    """
    from convolabel.study import read_study
    from ml_backend import serve as serve_studies

    credentials = Credentials.from_environment()
    try:
        serve_studies(
            [read_study(path) for path in studies],
            credentials,
            data,
            host=host,
            port=port,
            on_ready=lambda url: click.echo(f"Scoring server at {url}"),
        )
    except OSError as error:
        raise InputError(f"Cannot listen on {host}:{port}: {error.strerror}; give another --port.") from None
