"""Drawing a report: HTML by templates that escape whatever they are given. No script, nothing from the network."""

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from convolabel import __version__
from evaluators.report.elements import Element, Section, said


def page(title: str, sections: Sequence[Section], references: Sequence[str]) -> str:
    """The whole page."""
    template = _environment().get_template("report.html")
    return template.render(title=title, sections=sections, references=references, version=__version__)


def fragment(elements: Sequence[Element]) -> str:
    """Some elements with their styles, for a notebook."""
    return _environment().get_template("fragment.html").render(elements=elements)


@cache
def _environment() -> Environment:
    # every template is HTML, whatever its suffix
    environment = Environment(
        loader=PackageLoader("evaluators.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["said"] = said
    return environment
