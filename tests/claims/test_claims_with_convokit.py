"""ClaimTracker on ConvoKit 5.0's own corpora, and records beside ConvoKit's own."""

from pathlib import Path
from typing import Any

import pytest

from evaluators import ClaimTracker, Corpus
from tests.claims.fake_models import FakeEmbedder, FakeNLI
from tests.claims.scripted_model import ScriptedModel
from tests.reference_corpora import reference

convokit = pytest.importorskip("convokit", reason="ConvoKit is not installed")

NAMES = ("c01_basic3", "c06_named_mediator", "c08_empties", "c09_shuffled", "c14_partial_seed")


def theirs(corpus: Corpus, folder: Path) -> Any:
    return convokit.Corpus(filename=str(corpus.dump("ours", folder)))


@pytest.mark.parametrize("name", NAMES)
def test_its_objects_give_the_same_records(name: str, tmp_path: Path) -> None:
    given = reference(name)
    loaded = theirs(given.corpus, tmp_path)
    tracker = ClaimTracker(
        ScriptedModel(given.corpus, given.answers), embedder=FakeEmbedder(), nli=FakeNLI(), n_workers=2, verbosity=0
    )
    tracker.transform(given.corpus)
    tracker.transform(loaded)
    for conversation in given.corpus.iter_conversations():
        other = loaded.get_conversation(conversation.id)
        assert other.meta["claims"] == conversation.meta["claims"]
        assert other.meta["claims_status"] == conversation.meta["claims_status"]
        for speaker in conversation.meta["claims"]["speakers"].values():
            assert loaded.get_speaker_convo_info(speaker, conversation.id) == given.corpus.get_speaker_convo_info(
                speaker, conversation.id
            )
    assert tracker.summary_rows(loaded) == tracker.summary_rows(given.corpus)
    loaded.dump("out", base_path=str(tmp_path))
    again = Corpus(tmp_path / "out")
    assert tracker.summary_rows(again) == tracker.summary_rows(given.corpus)
