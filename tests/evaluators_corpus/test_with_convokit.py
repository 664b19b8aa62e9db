"""ConvoKit 5.0 itself: it loads what we write, we read what it writes, and the evaluators take its objects."""

from pathlib import Path
from typing import Any

import pytest

from evaluators import CIG, CIGProxy, Corpus, default_is_mediator, display_names
from evaluators.corpus import read_speaker_info, write_speaker_info
from evaluators.result_status import mark_status
from evaluators.run_report import Status
from tests.cig.scripted_rater import ScriptedRater, scores
from tests.reference_corpora import reference

convokit = pytest.importorskip("convokit", reason="ConvoKit is not installed")

NAMES = ("c01_basic3", "c06_named_mediator", "c08_empties", "c09_shuffled", "c14_partial_seed")


def theirs(corpus: Corpus, folder: Path) -> Any:
    return convokit.Corpus(filename=str(corpus.dump("ours", folder)))


@pytest.mark.parametrize("name", NAMES)
def test_convokit_loads_what_we_write(name: str, tmp_path: Path) -> None:
    ours = reference(name).corpus
    loaded = theirs(ours, tmp_path)
    assert loaded.has_ai == ours.has_ai
    assert sorted(loaded.get_conversation_ids()) == sorted(ours.get_conversation_ids())
    for conversation in ours.iter_conversations():
        other = loaded.get_conversation(conversation.id)
        assert other.meta.to_dict() == conversation.meta
        assert other.alias == conversation.alias
        assert [each.id for each in other.get_chronological_utterance_list()] == [
            each.id for each in conversation.get_chronological_utterance_list()
        ]
    for utterance in ours.iter_utterances():
        other = loaded.get_utterance(utterance.id)
        assert (other.text, other.speaker.id, other.timestamp, other.reply_to, other.meta.to_dict()) == (
            utterance.text,
            utterance.speaker.id,
            utterance.timestamp,
            utterance.reply_to,
            utterance.meta,
        )
    for speaker in ours.iter_speakers():
        assert loaded.get_speaker(speaker.id).ai_meta == speaker.ai_meta
        assert loaded.get_speaker(speaker.id).is_ai == speaker.is_ai


@pytest.mark.parametrize("name", NAMES)
def test_what_convokit_writes_reads_as_what_it_was_given(name: str, tmp_path: Path) -> None:
    ours = reference(name).corpus
    theirs(ours, tmp_path).dump("theirs", base_path=str(tmp_path))
    again = Corpus(tmp_path / "theirs")
    assert {each.id: (each.text, each.meta) for each in again.iter_utterances()} == {
        each.id: (each.text, each.meta) for each in ours.iter_utterances()
    }
    assert {each.id: (each.meta, each.alias) for each in again.iter_conversations()} == {
        each.id: (each.meta, each.alias) for each in ours.iter_conversations()
    }
    assert {each.id: each.ai_meta for each in again.iter_speakers()} == {
        each.id: each.ai_meta for each in ours.iter_speakers()
    }


@pytest.mark.parametrize("name", NAMES)
def test_cig_takes_convokits_own_objects(name: str, tmp_path: Path) -> None:
    given = reference(name)
    loaded = theirs(given.corpus, tmp_path)
    model = ScriptedRater(given.corpus, given.answers if "cig" in given.answers else _twos(given.corpus))
    rater = CIG(model, verbosity=0, n_workers=2)
    rater.transform(given.corpus)
    rater.transform(loaded)
    assert scores(loaded) == scores(given.corpus)
    assert rater.summarize(loaded).to_dict("records") == rater.summarize(given.corpus).to_dict("records")
    for conversation in given.corpus.iter_conversations():
        assert loaded.get_conversation(conversation.id).meta["cig_status"] == conversation.meta["cig_status"]
        other = loaded.get_conversation(conversation.id)
        assert display_names(other) == display_names(conversation)
    assert scores(CIGProxy().transform(loaded), "cig_tfidf") == scores(CIGProxy().transform(given.corpus), "cig_tfidf")
    assert {each.id for each in loaded.iter_speakers() if default_is_mediator(each)} == {
        each.id for each in given.corpus.iter_speakers() if default_is_mediator(each)
    }


def test_results_written_into_convokits_objects_are_where_its_own_methods_look(tmp_path: Path) -> None:
    loaded = theirs(reference("c01_basic3").corpus, tmp_path)
    write_speaker_info(loaded, {"p1": {"basic3": {"claims_initial": ["a"]}}})
    write_speaker_info(loaded, {"p1": {"basic3": {"claims_final": ["b"]}}})
    assert loaded.get_speaker_convo_info("p1", "basic3") == {"claims_initial": ["a"], "claims_final": ["b"]}
    assert read_speaker_info(loaded, ["p1", "p2"])["p1"]["basic3"]["claims_final"] == ["b"]
    conversation = loaded.get_conversation("basic3")
    mark_status(conversation, "claims", Status.COMPLETE)
    assert mark_status(conversation, "claims", Status.FAILED) is Status.STALE
    loaded.dump("out", base_path=str(tmp_path))
    again = Corpus(tmp_path / "out")
    assert again.get_conversation("basic3").meta["claims_status"] == {"status": "stale"}
    assert again.get_speaker_convo_info("p1", "basic3", "claims_initial") == ["a"]


def _twos(corpus: Corpus) -> dict[str, Any]:
    return {"cig": {utterance.id: 2 for utterance in corpus.iter_utterances()}}
