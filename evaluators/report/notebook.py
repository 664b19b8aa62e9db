"""The tables and plots of one analysis in a notebook, drawn as in the report."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from convolabel.errors import InputError
from evaluators.agreement import Agreement
from evaluators.copilot import CopilotEffect
from evaluators.descriptives import Descriptives
from evaluators.report.agreement_section import agreement_section
from evaluators.report.categories_section import categories_section
from evaluators.report.copilot_section import copilot_section
from evaluators.report.elements import Section
from evaluators.report.overview import confusion_table
from evaluators.report.page import fragment
from evaluators.report.times_section import times_section
from evaluators.times import Times

Analysis = Agreement | CopilotEffect | Descriptives | Times


@dataclass(frozen=True)
class Drawing:
    """HTML that a notebook shows by itself."""

    html: str

    def _repr_html_(self) -> str:
        return self.html

    def write(self, path: Path) -> None:
        """Write it as a file for a browser. Raises `InputError` when that cannot be done."""
        try:
            path.write_text(f"<!doctype html>\n<meta charset='utf-8'>\n<title>convolabel</title>\n{self.html}", "utf-8")
        except OSError as error:
            raise InputError(f"Cannot write {path}: {error.strerror}; choose another place.") from None


def draw(result: Analysis, table: str | None = None) -> Drawing:
    """Draw an analysis, or one of its tables by name (`by_category`). Raises `InputError` for one it does not draw."""
    elements = list(_section(result).every_element())
    tables = {Path(element.source).stem: None for element in elements}
    if table is not None and table not in tables:
        known = ", ".join(f"`{name}`" for name in tables) or "none"
        raise InputError(f"There is no drawing of `{table}`; drawn are {known}, the others are plain tables.")
    return Drawing(fragment([each for each in elements if table in (None, Path(each.source).stem)]))


def _section(result: Analysis) -> Section:
    if isinstance(result, Agreement):
        return agreement_section(result, confusion_table(result), _dimensions(result.overall["dimension"]))
    if isinstance(result, CopilotEffect):
        return copilot_section(result, _dimensions(result.effects["dimension"]))
    if isinstance(result, Descriptives):
        return categories_section(result, _dimensions(result.frequencies["dimension"]))
    return times_section(result)


def _dimensions(column: Iterable[str | None]) -> list[str | None]:
    return list(dict.fromkeys(None if dimension != dimension else dimension for dimension in column)) or [None]
