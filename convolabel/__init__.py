"""convolabel: code conversations span by span in Label Studio, and score them afterwards."""

from convolabel.codebook import Codebook, read_codebook, shipped_codebook
from convolabel.conversation import Conversation
from convolabel.conversation_files import read_conversations
from convolabel.decisions import Decision, Progress, Status
from convolabel.errors import ConvolabelError, InputError, MissingExtraError, RemoteError
from convolabel.study import Study, read_study
from convolabel.task_data import TaskData, task_data
from convolabel.units import UNSURE, Unit
from convolabel.validation import Checked, Fault

__version__ = "0.1.0"

__all__ = [
    "UNSURE",
    "Checked",
    "Codebook",
    "Conversation",
    "ConvolabelError",
    "Decision",
    "Fault",
    "InputError",
    "MissingExtraError",
    "Progress",
    "RemoteError",
    "Status",
    "Study",
    "TaskData",
    "Unit",
    "__version__",
    "read_codebook",
    "read_conversations",
    "read_study",
    "shipped_codebook",
    "task_data",
]
