"""How far every rater is in every conversation (design, section 6)."""

from dataclasses import dataclass

from convolabel.decisions import Status, progress
from convolabel.native_results import read_decisions
from convolabel.study import Study
from importers.connection import Connection
from importers.projects import the_project
from importers.rated_conversations import rated_conversations, raters_with_account
from importers.work import SetAside


@dataclass(frozen=True)
class ConversationProgress:
    """One row: a rater and a conversation. `decided` of `total` units are decided."""

    conversation_id: str
    conversation_label: str
    rater: str
    """E-mail, as in the study file."""
    decided: int
    total: int
    status: Status
    is_submitted: bool
    """The rater has finished the conversation, and has no newer draft of it."""


def progress_of(study: Study, connection: Connection) -> list[ConversationProgress]:
    """A row for every conversation (in the order of import) and rater (in that of the study file)."""
    project = the_project(study, connection)
    raters = raters_with_account(study, connection)
    account_of = {rater.email: rater for rater in raters}
    rows = []
    for rated in rated_conversations(project.id, raters, connection, SetAside()):
        units = [span.unit for span in rated.data.spans]
        for account in study.raters:
            rater = account_of.get(account.email)
            work = rated.work.get(rater) if rater else None
            decisions = read_decisions(work.results, rated.data, study.codebook) if work else {}
            so_far = progress(units, decisions, study.codebook)
            rows.append(
                ConversationProgress(
                    conversation_id=rated.data.id,
                    conversation_label=rated.data.label,
                    rater=account.email,
                    decided=so_far.decided,
                    total=so_far.total,
                    status=so_far.status,
                    is_submitted=work is not None and not work.is_draft,
                )
            )
    return rows
