"""The votes of a study as rows of the export table (design, section 9; docs/votes-table.md)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convolabel.codebook import Dimension
from convolabel.decisions import Decision
from convolabel.native_results import read_decisions
from convolabel.study import Study
from convolabel.task_data import TaskData
from convolabel.units import UNSURE, Unit
from convolabel.votes_table import Vote
from importers.connection import Connection
from importers.projects import the_project
from importers.rated_conversations import RatedConversation, rated_conversations, raters_with_account
from importers.unit_log import LogKey, LogRow, copilot_columns, read_log
from importers.work import Rater, SetAside, Work, utc


@dataclass
class ExportReport:
    """Complete once the rows are read."""

    conversations: int = 0
    rows: int = 0
    aside: SetAside = field(default_factory=SetAside)
    without_account: tuple[str, ...] = ()
    """Raters of the study file that Label Studio does not know."""

    def sentences(self) -> list[str]:
        """What a study manager should know beside the number of rows."""
        said = []
        if self.without_account:
            said.append(f"No account in Label Studio: {', '.join(self.without_account)}.")
        if self.aside.others:
            people = ", ".join(f"{who} ({pieces})" for who, pieces in sorted(self.aside.others.items()))
            said.append(f"Left out, since these people are no raters of the study: {people}.")
        if self.aside.superseded:
            said.append(f"{self.aside.superseded} older annotations or drafts left out; each rater's newest counts.")
        if self.aside.cancelled:
            said.append(f"{self.aside.cancelled} skipped annotations left out.")
        return said


class VotesExport:
    """Iterate over it once for the rows; then `report` is complete."""

    def __init__(self, study: Study, connection: Connection) -> None:
        self.report = ExportReport()
        self._study = study
        self._connection = connection

    def __iter__(self) -> Iterator[Vote]:
        study = self._study
        report = self.report = ExportReport()
        project = the_project(study, self._connection)
        raters = raters_with_account(study, self._connection)
        known = {rater.email for rater in raters}
        report.without_account = tuple(rater.email for rater in study.raters if rater.email not in known)
        log = read_log(project.id, self._connection)
        for rated in rated_conversations(project.id, raters, self._connection, report.aside):
            report.conversations += 1
            for vote in conversation_votes(study, rated, raters, log):
                report.rows += 1
                yield vote


def export_votes(study: Study, connection: Connection) -> VotesExport:
    """The study's votes, in bounded memory: conversations in the order of their import, raters in that of the study
    file, units in reading order, dimensions in that of the codebook.

    One row per rater, decided unit and dimension. Annotations and drafts count alike; `rater_id` is Label Studio's
    user id, `rater_name` the name, else the e-mail. Without the plugin the log's columns are empty, and the times are
    those of the annotation or draft. Raises `RemoteError` or `InputError` while it is iterated.
    """
    return VotesExport(study, connection)


def conversation_votes(
    study: Study, rated: RatedConversation, raters: Sequence[Rater], log: Mapping[LogKey, LogRow]
) -> Iterator[Vote]:
    """The rows of one conversation."""
    data = rated.data
    conversation = {"study": data.study, "conversation_id": data.id, "conversation_label": data.label}
    spans = _span_columns(data)
    for rater in raters:
        work = rated.work.get(rater)
        if work is None:
            continue
        who = {"rater_kind": "human", "rater_id": str(rater.rater_id), "rater_name": rater.name}
        for unit, decision in read_decisions(work.results, data, study.codebook).items():
            if not decision.is_decided(study.codebook):
                continue
            row = log.get(LogKey(rated.task_id, rater.rater_id, unit))
            unit_columns = {**conversation, **who, **spans[unit], **_times(work, row), "note": decision.note}
            for dimension in study.codebook.dimensions:
                copilot = copilot_columns(row, dimension) if row else {}
                yield Vote(**unit_columns, **_answer(decision, dimension), **copilot)


def _answer(decision: Decision, dimension: Dimension) -> dict[str, Any]:
    label = decision.labels[dimension.id]
    is_unsure = label == UNSURE
    return {"dimension": dimension.id, "category": None if is_unsure else label, "unsure": is_unsure}


def _times(work: Work, row: LogRow | None) -> dict[str, Any]:
    if row is None:
        return {"created_at": work.created_at, "updated_at": work.updated_at}
    times = {"created_at": utc(row.created_at), "updated_at": utc(row.updated_at)}
    return {**times, "time_ms": row.first_ms, "later_time_ms": row.later_ms}


def _span_columns(data: TaskData) -> dict[Unit, dict[str, Any]]:
    positions = span_positions(data)
    return {
        span.unit: {
            "span_rev": span.rev,
            "span_start": span.start,
            "span_end": span.end,
            "span_text": data.span_text(span),
            "speaker": data.messages[span.message].speaker,
            "speaker_role": data.messages[span.message].role,
            "message_index": span.message,
            "span_id": span.span_id,
            "message_id": str(data.messages[span.message].message_id),
            "span_index": positions[span.span_id],
        }
        for span in data.spans
    }


def span_positions(data: TaskData) -> dict[str, int]:
    """Span id -> dense 0-based position of the span inside its message."""
    passed: Counter[int] = Counter()
    positions = {}
    for span in data.spans:
        positions[span.span_id] = passed[span.message]
        passed[span.message] += 1
    return positions
