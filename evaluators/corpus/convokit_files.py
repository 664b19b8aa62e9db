"""ConvoKit's directory format: utterances.jsonl (or .json), speakers.json, conversations.json, corpus.json, index.json.

The AI fields (`ai_meta`, `is_ai`, `has_ai`) stand in the metadata on disk and are attributes in memory, as in
ConvoKit 5.0. Vectors and pickled ("bin") metadata are left out: the evaluators need neither, and a pickle from
someone else's folder may run code.
"""

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from convolabel.errors import InputError
from evaluators.corpus.model import Corpus, Speaker, Utterance

_PICKLED = "<##bin{"
_AI_KEYS = ("ai_meta", "is_ai", "has_ai")


def is_convokit_directory(path: Path) -> bool:
    return path.is_dir() and any((path / f"utterances.{kind}").is_file() for kind in ("jsonl", "json"))


def read_convokit(path: Path, corpus: Corpus) -> None:
    """Fill `corpus` from the directory `path`. Raises `InputError`."""
    index = _object(path / "index.json", {})
    has_ai_fields = _has_ai_fields(index) or "has_ai" in _object(path / "corpus.json", {})
    speakers = {
        ident: _speaker(ident, _meta(record), has_ai_fields)
        for ident, record in _object(path / _first(path, "speakers.json", "users.json"), {}).items()
    }
    utterances = [_utterance(row, where, speakers) for where, row in _rows(path)]
    conversations = {ident: _split(_meta(record)) for ident, record in _object(path / "conversations.json", {}).items()}
    corpus.add_utterances(utterances, conversations)
    # speakers without an utterance are kept: their pre-survey and role may matter to others
    corpus.speakers = {**speakers, **corpus.speakers}
    meta, ai_meta = _split(_object(path / "corpus.json", {}))
    corpus.has_ai = bool(meta.pop("has_ai", False))
    corpus.meta.update(meta)
    corpus.ai_meta.update(ai_meta)


def write_convokit(corpus: Corpus, path: Path) -> Path:
    """Write `corpus` so that ConvoKit 5.0 loads it; each file is replaced only once it is whole.

    Raises `InputError` for values that are not JSON and for places that cannot be written.
    """
    with_ai = _is_ai_corpus(corpus)
    utterances = [_utterance_row(each, with_ai) for each in corpus.iter_utterances()]
    speakers = {each.id: _record(_speaker_meta(each, with_ai)) for each in corpus.iter_speakers()}
    conversations = {
        each.id: _record(_joined(each.meta, each.ai_meta, with_ai)) for each in corpus.iter_conversations()
    }
    corpus_meta = _joined(corpus.meta, corpus.ai_meta, with_ai) | ({"has_ai": corpus.has_ai} if with_ai else {})
    index = {
        "utterances-index": _types(row["meta"] for row in utterances),
        "speakers-index": _types(record["meta"] for record in speakers.values()),
        "conversations-index": _types(record["meta"] for record in conversations.values()),
        "overall-index": _types([corpus_meta]),
        "version": 1,
        "vectors": [],
    }
    files = {
        "speakers.json": _json(speakers, "a speaker's metadata"),
        "conversations.json": _json(conversations, "a conversation's metadata"),
        "corpus.json": _json(corpus_meta, "the corpus's metadata"),
        "index.json": _json(index, "the index"),
        "utterances.jsonl": "".join(_json(row, f"utterance {row['id']}") + "\n" for row in utterances),
    }
    try:
        path.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            _replace(path / name, text)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}; choose another place.") from None
    return path


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    lines, whole = path / "utterances.jsonl", path / "utterances.json"
    if not lines.is_file():
        rows = _loaded(_text(whole), str(whole))
        if not isinstance(rows, list):
            raise InputError(f"{whole} must hold a list of utterances, found {type(rows).__name__}.")
        yield from ((f"{whole}, utterance {number}", row) for number, row in enumerate(rows, start=1))
        return
    for number, line in enumerate(_text(lines).split("\n"), start=1):
        if line.strip():
            where = f"{lines}, line {number}"
            yield where, _loaded(line, where)


def _utterance(row: Any, where: str, speakers: dict[str, Speaker]) -> Utterance:
    if not isinstance(row, dict):
        raise InputError(f"{where}: an utterance is a JSON object, found {type(row).__name__}.")
    ident, speaker_id = row.get("id"), row.get("speaker", row.get("user"))
    conversation_id = row.get("conversation_id", row.get("root"))
    for key, value in (("id", ident), ("speaker", speaker_id), ("conversation_id", conversation_id)):
        if value is None:
            raise InputError(f"{where}: the utterance has no `{key}`.")
    speaker = speakers.setdefault(str(speaker_id), Speaker(str(speaker_id)))
    meta, ai_meta = _split(_without_pickled(row.get("meta") or {}))
    reply_to = row.get("reply-to", row.get("reply_to"))
    text = row.get("text")
    return Utterance(
        str(ident),
        speaker,
        str(conversation_id),
        text="" if text is None else str(text),
        timestamp=row.get("timestamp"),
        reply_to=reply_to,
        meta=meta,
        ai_meta=ai_meta,
    )


def _speaker(ident: str, meta: dict[str, Any], has_ai_fields: bool) -> Speaker:
    kept, ai_meta = _split(meta)
    is_ai = bool(kept.pop("is_ai", False))
    # older versions of the format kept the role in the speaker's own metadata
    if has_ai_fields and "role" in kept and "role" not in ai_meta:
        ai_meta["role"] = kept.pop("role")
    return Speaker(ident, kept, is_ai=is_ai, ai_meta=ai_meta)


def _meta(record: Any) -> dict[str, Any]:
    """Older corpora hold the metadata itself, newer ones `{"meta": ..., "vectors": ...}`."""
    inner = record.get("meta", record) if isinstance(record, dict) else {}
    return _without_pickled(inner) if isinstance(inner, dict) else {}


def _without_pickled(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in meta.items() if not (isinstance(value, str) and value.startswith(_PICKLED))}


def _split(meta: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    kept = dict(meta)
    ai_meta = kept.pop("ai_meta", None)
    return kept, dict(ai_meta) if isinstance(ai_meta, dict) else {}


def _has_ai_fields(index: Mapping[str, Any]) -> bool:
    return any(key in fields for fields in index.values() if isinstance(fields, dict) for key in _AI_KEYS)


def _is_ai_corpus(corpus: Corpus) -> bool:
    return bool(
        corpus.has_ai
        or corpus.ai_meta
        or any(speaker.ai_meta or speaker.is_ai for speaker in corpus.iter_speakers())
        or any(conversation.ai_meta for conversation in corpus.iter_conversations())
        or any(utterance.ai_meta for utterance in corpus.iter_utterances())
    )


def _utterance_row(utterance: Utterance, with_ai: bool) -> dict[str, Any]:
    return {
        "id": utterance.id,
        "conversation_id": utterance.conversation_id,
        "text": utterance.text,
        "speaker": utterance.speaker.id,
        "meta": _joined(utterance.meta, utterance.ai_meta, with_ai),
        "reply-to": utterance.reply_to,
        "timestamp": utterance.timestamp,
        "vectors": [],
    }


def _speaker_meta(speaker: Speaker, with_ai: bool) -> dict[str, Any]:
    return _joined(speaker.meta, speaker.ai_meta, with_ai) | ({"is_ai": speaker.is_ai} if with_ai else {})


def _joined(meta: Mapping[str, Any], ai_meta: Mapping[str, Any], with_ai: bool) -> dict[str, Any]:
    return {**meta, "ai_meta": dict(ai_meta)} if with_ai else dict(meta)


def _record(meta: dict[str, Any]) -> dict[str, Any]:
    return {"meta": meta, "vectors": []}


def _types(metas: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The names of the Python types of each key's values, as ConvoKit's index has them."""
    found: dict[str, dict[str, None]] = {}
    for meta in metas:
        for key, value in meta.items():
            names = found.setdefault(key, {})
            if value is not None:
                names[str(type(value))] = None
    return {key: list(names) for key, names in found.items()}


def _json(value: Any, what: str) -> str:
    try:
        # ASCII only: ConvoKit opens files in the platform's encoding
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"Cannot write {what}: it holds a value that is not JSON ({error}).") from None


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _first(path: Path, *names: str) -> str:
    return next((name for name in names if (path / name).is_file()), names[0])


def _object(path: Path, default: dict[str, Any]) -> dict[str, Any]:
    if not path.is_file():
        return default
    loaded = _loaded(_text(path), str(path))
    if not isinstance(loaded, dict):
        raise InputError(f"{path} must hold a JSON object, found {type(loaded).__name__}.")
    return loaded


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}; check the path.") from None
    except UnicodeDecodeError:
        raise InputError(f"Cannot read {path}: it is not UTF-8; save it as UTF-8 and try again.") from None


def _loaded(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({error}).") from None
