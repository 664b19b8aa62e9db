"""Corpora out of conversation files, ConvoKit directories and votes tables, and back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convolabel.errors import InputError
from convolabel.votes_files import write_votes
from convolabel.votes_table import Vote
from evaluators import Corpus, Speaker, Utterance, default_is_mediator, default_speaker_name, default_topic
from evaluators.corpus import read_speaker_info, write_speaker_info
from evaluators.corpus.votes_source import attach_votes
from tests.reference_corpora import reference


def conversation_file(path: Path, *items: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"schema_version": "1.0", "items": items}), encoding="utf-8")
    return path


def item(ident: str, *messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": ident, "content": {"messages": list(messages)}, **fields}


def test_a_conversation_file(tmp_path: Path) -> None:
    talk = item(
        "t1",
        {"message_id": "m1", "speaker": "c1", "content": "I can't sleep.\r\n", "timestamp": 5, "labelable": True},
        {"speaker": "bot", "content": "Since when?"},
        label="Talk one",
        metadata={"topic": "Sleep", "statement": "Sleep more.", "pre_survey": {"c1": "Help."}},
        speakers={"c1": {"name": "Goose", "role": "client"}, "bot": {"role": "public assistant"}},
    )
    corpus = Corpus(conversation_file(tmp_path / "talks.json", talk))
    conversation = corpus.get_conversation("t1")
    first, second = conversation.iter_utterances()
    assert (first.id, first.text, first.timestamp, first.reply_to) == ("m1", "I can't sleep.\r\n", 5, None)
    assert (second.id, second.reply_to, second.meta["message_id"]) == ("t1.2", "m1", "2")
    assert conversation.meta == {"label": "Talk one", **talk["metadata"]}
    assert default_speaker_name(conversation, first.speaker) == "Goose"
    assert default_speaker_name(conversation, second.speaker) == "bot"
    assert default_topic(conversation) == "Sleep — debate statement: Sleep more."
    assert [default_is_mediator(speaker) for speaker in corpus.iter_speakers()] == [False, True]
    assert (second.speaker.is_ai, corpus.has_ai) == (True, True)


def test_json_lines_and_messages_with_roles_only(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    talk = item("t1", {"role": "user", "content": "Hello there."}, {"role": "public assistant", "content": "Hi."})
    path.write_text(json.dumps(talk) + "\n", encoding="utf-8")
    corpus = Corpus(path)
    assert corpus.get_speaker_ids() == ["user", "public assistant"]
    assert default_is_mediator(corpus.get_speaker("public assistant"))


def test_message_ids_that_repeat_in_the_corpus_are_told_apart(tmp_path: Path) -> None:
    hello = {"role": "user", "content": "Hello."}
    talks = [item(name, {**hello, "message_id": "m"}, {**hello, "message_id": f"only-{name}"}) for name in ("t1", "t2")]
    corpus = Corpus(conversation_file(tmp_path / "talks.json", *talks))
    assert corpus.get_utterance_ids() == ["t1.m", "only-t1", "t2.m", "only-t2"]


def test_one_speaker_id_with_two_roles_is_two_speakers(tmp_path: Path) -> None:
    """Numbered speakers: 1 is the client of the first talk and the mediator of the second."""
    roles = [{"1": "client", "2": "public assistant"}, {"1": "public assistant", "2": "client"}]
    talks = [
        item(
            f"t{number}",
            {"speaker": "1", "content": "Hello."},
            {"speaker": "2", "content": "Hi."},
            speakers={speaker: {"role": role} for speaker, role in each.items()},
            metadata={"pre_survey": {"1": "text"}},
        )
        for number, each in enumerate(roles)
    ]
    corpus = Corpus(conversation_file(tmp_path / "talks.json", *talks))
    assert corpus.get_speaker_ids() == ["1", "2", "1 (public assistant)", "2 (client)"]
    mediators = [speaker.id for speaker in corpus.iter_speakers() if default_is_mediator(speaker)]
    assert mediators == ["2", "1 (public assistant)"]
    assert corpus.get_conversation("t1").meta["pre_survey"] == {"1 (public assistant)": "text"}


def test_a_faulty_file_is_refused_with_its_faults(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no_speaker"):
        Corpus(conversation_file(tmp_path / "talks.json", item("t1", {"content": "Hello."})))


@pytest.mark.parametrize("name", ["nothing.json", "empty_folder"])
def test_places_without_a_corpus_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty_folder").mkdir()
    with pytest.raises(InputError, match=name):
        Corpus(tmp_path / name)


def as_plain(corpus: Corpus) -> dict[str, Any]:
    return {
        "meta": (corpus.meta, corpus.ai_meta, corpus.has_ai),
        "speakers": {each.id: (each.meta, each.ai_meta, each.is_ai) for each in corpus.iter_speakers()},
        "conversations": {
            each.id: (each.meta, each.ai_meta, each.get_utterance_ids()) for each in corpus.iter_conversations()
        },
        "utterances": {
            each.id: (each.speaker.id, each.text, each.timestamp, each.reply_to, each.meta, each.ai_meta)
            for each in corpus.iter_utterances()
        },
    }


@pytest.mark.parametrize("name", ["c01_basic3", "c05_dup_names", "c08_empties", "c09_shuffled", "c14_partial_seed"])
def test_a_corpus_survives_being_written_and_read(tmp_path: Path, name: str) -> None:
    corpus = reference(name).corpus
    written = corpus.dump("out", tmp_path)
    again = Corpus(written)
    assert as_plain(again) == as_plain(corpus)
    before = {path.name: path.read_bytes() for path in written.iterdir()}
    again.dump("out", tmp_path)
    assert {path.name: path.read_bytes() for path in written.iterdir()} == before
    assert set(before) == {"utterances.jsonl", "speakers.json", "conversations.json", "corpus.json", "index.json"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
META = st.dictionaries(
    st.text(max_size=4).filter(lambda key: key not in ("ai_meta", "is_ai", "has_ai")), JSON, max_size=2
)
NAME = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=6)


@given(st.lists(st.tuples(NAME, NAME, st.text(st.characters(exclude_categories=("Cs",))), META), max_size=6), META)
def test_any_texts_names_and_metadata_survive(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, dict[str, Any]]], meta: dict[str, Any]
) -> None:
    people = {speaker: Speaker(speaker, meta, ai_meta={"role": "x"}) for speaker, *_ in rows}
    # a text that begins like a pickled value is left out of metadata, and hypothesis will not make one
    utterances = [
        Utterance(f"u{place}", people[speaker], talk, text, place, meta=own)
        for place, (speaker, talk, text, own) in enumerate(rows)
    ]
    corpus = Corpus(utterances=utterances, meta=meta)
    if utterances:
        again = Corpus(corpus.dump("out", tmp_path_factory.mktemp("corpus")))
        assert as_plain(again) == as_plain(corpus)


def write_directory(path: Path, **files: Any) -> Path:
    path.mkdir()
    for name, content in files.items():
        stem, _, kind = name.rpartition("_")
        text = "\n".join(map(json.dumps, content)) if kind == "jsonl" else json.dumps(content)
        (path / f"{stem}.{kind}").write_text(text, encoding="utf-8")
    return path


def test_an_older_directory_with_users_roots_and_bare_metadata(tmp_path: Path) -> None:
    row = {"id": "u1", "user": "ann", "root": "t1", "reply_to": None, "timestamp": 3, "text": None, "meta": {"x": 1}}
    path = write_directory(
        tmp_path / "old",
        utterances_json=[row],
        users_json={"ann": {"age": 3}, "silent": {"age": 4}},
        conversations_json={"t1": {"topic": "T"}, "without utterances": {}},
        corpus_json={"name": "old"},
        index_json={"utterances-index": {}, "version": 1},
    )
    corpus = Corpus(path)
    assert corpus.get_utterance("u1").text == ""
    assert corpus.get_speaker("ann").meta == {"age": 3}
    assert corpus.get_speaker("silent").meta == {"age": 4}
    assert corpus.get_conversation("t1").meta == {"topic": "T"}
    assert corpus.get_conversation_ids() == ["t1"]
    assert corpus.meta == {"name": "old"}


def test_ai_fields_and_the_roles_of_older_versions(tmp_path: Path) -> None:
    row = {"id": "u1", "speaker": "bot", "conversation_id": "t1", "text": "Hi", "meta": {"ai_meta": {"config": 1}}}
    files = {
        "utterances_jsonl": [row],
        "conversations_json": {"t1": {"meta": {"ai_meta": {"alias": {"bot": "Facilitator"}}}, "vectors": []}},
        "corpus_json": {"has_ai": True, "ai_meta": {"study": 1}},
        "index_json": {"conversations-index": {"ai_meta": ["<class 'dict'>"]}},
    }
    speaker = {"bot": {"meta": {"role": "public assistant", "is_ai": True}, "vectors": []}}
    corpus = Corpus(write_directory(tmp_path / "ai", speakers_json=speaker, **files))
    assert default_is_mediator(corpus.get_speaker("bot"))
    assert corpus.get_conversation("t1").alias == {"bot": "Facilitator"}
    assert corpus.get_utterance("u1").ai_meta == {"config": 1}
    assert (corpus.has_ai, corpus.ai_meta, corpus.meta) == (True, {"study": 1}, {})
    # without AI fields in the corpus, "role" is a word of the corpus's own
    files.update(corpus_json={}, conversations_json={}, index_json={}, utterances_jsonl=[{**row, "meta": {}}])
    corpus = Corpus(write_directory(tmp_path / "plain", speakers_json=speaker, **files))
    assert corpus.get_speaker("bot").meta == {"role": "public assistant"}


def test_pickled_metadata_is_left_out_and_never_loaded(tmp_path: Path) -> None:
    row = {"id": "u1", "speaker": "a", "conversation_id": "t", "text": "", "meta": {"x": "<##bin{0}&&@**>", "y": 1}}
    path = write_directory(tmp_path / "bin", utterances_jsonl=[row])
    (path / "x-bin.p").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    assert Corpus(path).get_utterance("u1").meta == {"y": 1}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1"),
        ("[]", "line 1"),
        ('{"id": "u"}', "no `speaker`"),
        ('{"id": "u", "speaker": "s"}', "no `conversation_id`"),
    ],
)
def test_a_faulty_directory_is_refused_by_line(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "utterances.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        Corpus(tmp_path)


def test_an_utterance_id_stands_once(tmp_path: Path) -> None:
    row = json.dumps({"id": "u", "speaker": "s", "conversation_id": "t", "text": "x"})
    (tmp_path / "utterances.jsonl").write_text(f"{row}\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match="stands twice"):
        Corpus(tmp_path)


def test_values_that_are_not_json_are_named_when_writing(tmp_path: Path) -> None:
    corpus = Corpus(utterances=[Utterance("u1", Speaker("a"), "t", "x", meta={"bad": {1, 2}})])
    with pytest.raises(InputError, match="utterance u1"):
        corpus.dump("out", tmp_path)
    assert not (tmp_path / "out" / "utterances.jsonl").exists()


def vote(**fields: Any) -> Vote:
    given = {
        "study": "s",
        "conversation_id": "t1",
        "rater_id": "r1",
        "dimension": "intent",
        "category": "Q",
        "span_rev": 0,
        "span_start": 0,
        "span_end": 3,
        "span_text": "Ja.",
        "speaker": "c1",
        "speaker_role": "client",
        "span_id": "s1",
        "message_id": "m1",
        "span_index": 0,
    }
    return Vote.model_validate({**given, **fields})


VOTES = [
    vote(),
    vote(span_id="s2", span_index=1, span_start=4, span_end=8, span_text="Gut.", category="E"),
    vote(span_id="s3", message_id="m2", speaker="bot", speaker_role="public assistant", span_text="Na?", span_index=2),
    vote(rater_id="r2"),
]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_votes_table_alone(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"votes.{suffix}"
    write_votes(path, VOTES)
    corpus = Corpus(path)
    first, second = corpus.iter_utterances()
    assert [(each.id, each.text) for each in (first, second)] == [("t1.m1", "Ja. Gut."), ("t1.m2", "Na?")]
    assert default_is_mediator(second.speaker)
    assert [(row["rater_id"], row["category"]) for row in first.meta["votes"]] == [
        ("r1", "Q"),
        ("r1", "E"),
        ("r2", "Q"),
    ]
    assert corpus.get_conversation("t1").meta["is_excerpt"] is True


def test_votes_beside_their_conversations(tmp_path: Path) -> None:
    talk = item(
        "t1", {"message_id": "m1", "role": "client", "content": "Ja. Gut. So."}, {"role": "bot", "content": "Na?"}
    )
    corpus = Corpus(conversation_file(tmp_path / "talks.json", talk))
    assert attach_votes(VOTES, corpus) == 1  # the message m2 is called 2 in this file
    assert len(corpus.get_utterance("m1").meta["votes"]) == 3


def test_values_per_speaker_and_conversation() -> None:
    corpus = reference("c01_basic3").corpus
    write_speaker_info(corpus, {"p1": {"basic3": {"claims_initial": [1]}, "other": {"claims_initial": []}}})
    write_speaker_info(corpus, {"p1": {"basic3": {"claims_final": [2]}}})
    assert corpus.get_speaker_convo_info("p1", "basic3") == {"claims_initial": [1], "claims_final": [2]}
    assert corpus.get_speaker_convo_info("p1", "basic3", "claims_final") == [2]
    corpus.set_speaker_convo_info("p2", "basic3", "x", 3)
    assert read_speaker_info(corpus, ["p2", "p3"]) == {"p2": {"basic3": {"x": 3}}, "p3": {}}
