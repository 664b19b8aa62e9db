"""A report people can read: one HTML page with plots, and the same numbers as tables.

from evaluators import load_votes
from evaluators.report import report
report(load_votes("votes.csv")).write(Path("report.html"))
"""

from evaluators.report.notebook import Drawing, draw
from evaluators.report.report import Report, report

__all__ = ["Drawing", "Report", "draw", "report"]
