"""Results of a run beside its tables, so that the next run into the same folder starts from them.

A corpus is read anew for each run; without this, a run that fails would write tables without the results that an
earlier one had.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from convolabel.errors import InputError
from evaluators.result_status import status_key

if TYPE_CHECKING:
    from evaluators.corpus.protocols import CorpusLike
    from evaluators.run_folder import RunFolder


def keep_results(folder: "RunFolder", attribute: str, corpus: "CorpusLike", selector: Any = None) -> None:
    """Write what stands in `attribute`, and its status, in the metadata of conversations and their utterances."""
    kept = {}
    for conversation in corpus.iter_conversations():
        status = conversation.meta.get(status_key(attribute))
        if status is None or (selector is not None and not selector(conversation)):
            continue
        utterances = list(conversation.iter_utterances())
        kept[conversation.id] = {
            "texts": _fingerprint(utterances),
            "status": status,
            "conversation": conversation.meta.get(attribute),
            "utterances": {each.id: each.meta[attribute] for each in utterances if attribute in each.meta},
        }
    folder.write_json(_name(attribute), kept)


def restore_results(folder: "RunFolder", attribute: str, corpus: "CorpusLike") -> int:
    """Put kept results back into the metadata of conversations whose texts are unchanged; returns how many.

    Raises `InputError` when the file is not what `keep_results` writes.
    """
    path = folder.path / _name(attribute)
    if not path.exists():
        return 0
    try:
        kept = json.loads(path.read_text("utf-8"))
        return sum(_restored(each, attribute, kept.get(each.id)) for each in corpus.iter_conversations())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise InputError(f"{path} cannot be read; move it away to start without earlier results.") from None


def _restored(conversation: Any, attribute: str, entry: Any) -> bool:
    utterances = list(conversation.iter_utterances())
    if entry is None or entry["texts"] != _fingerprint(utterances):
        return False
    conversation.meta[status_key(attribute)] = entry["status"]
    if entry["conversation"] is not None:
        conversation.meta[attribute] = entry["conversation"]
    for utterance in utterances:
        if utterance.id in entry["utterances"]:
            utterance.meta[attribute] = entry["utterances"][utterance.id]
    return True


def _fingerprint(utterances: Sequence[Any]) -> str:
    rows = [[each.id, each.speaker.id, each.text] for each in utterances]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _name(attribute: str) -> str:
    return f"{attribute}_results.json"
