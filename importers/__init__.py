"""Conversations into Label Studio and votes out of it. The SDK is imported when a name is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convolabel.errors import MissingExtraError

if TYPE_CHECKING:
    from importers.connection import Connection, connect
    from importers.conversations import Imported, import_conversations
    from importers.import_plan import Refused
    from importers.progress import ConversationProgress, progress_of
    from importers.studies import Created, create_study
    from importers.votes import ExportReport, VotesExport, export_votes

__all__ = [
    "Connection",
    "ConversationProgress",
    "Created",
    "ExportReport",
    "Imported",
    "Refused",
    "VotesExport",
    "connect",
    "create_study",
    "export_votes",
    "import_conversations",
    "progress_of",
]

_HOME = {
    "Connection": "connection",
    "ConversationProgress": "progress",
    "Created": "studies",
    "ExportReport": "votes",
    "Imported": "conversations",
    "Refused": "import_plan",
    "VotesExport": "votes",
    "connect": "connection",
    "create_study": "studies",
    "export_votes": "votes",
    "import_conversations": "conversations",
    "progress_of": "progress",
}
_EXTRA = frozenset({"label_studio_sdk", "httpx", "tenacity"})


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"importers.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _EXTRA:
            raise MissingExtraError("Talking to Label Studio", "importers") from None
        raise
