"""The command line (design, section 12). Every command calls a function of its room, imported when it is used."""

import sys
import warnings

import click

from convolabel import __version__
from convolabel.cli.conversations import create, export, import_, progress, validate
from convolabel.cli.evaluators import cig, claims, redirection
from convolabel.cli.servers import demo, serve, studio
from convolabel.cli.tables import agreement, copilot, report, times
from convolabel.errors import ConvolabelError


class _InOrder(click.Group):
    """Lists commands in the order of a study's life rather than by name."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="convolabel")
def cli() -> None:
    """Code conversations span by span in Label Studio, and measure how well raters agree."""


for _command in (
    demo,
    studio,
    serve,
    validate,
    create,
    import_,
    progress,
    export,
    agreement,
    times,
    copilot,
    report,
    cig,
    claims,
    redirection,
):
    cli.add_command(_command)


def main() -> None:
    """Run the command line: 2 for bad input, 3 for a remote that failed, 130 for Ctrl-C."""
    warnings.showwarning = _note
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ConvolabelError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("Stopped.", err=True)
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _note(message: Warning | str, category: type[Warning], *_place: object, **_more: object) -> None:
    """A warning as a sentence, without the line of code it comes from; those meant for developers are left out."""
    if issubclass(category, UserWarning):
        click.echo(f"Note: {message}", err=True)
