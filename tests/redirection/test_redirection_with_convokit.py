"""ConvoKit's own objects: scored as ours are, and our likelihoods in ConvoKit's own transformer."""

from pathlib import Path
from typing import Any

import pytest

from evaluators import MediatorRedirection
from evaluators.corpus import Corpus
from evaluators.models.causal_lm import HFLikelihoodModel
from tests.redirection.plain_likelihood import TINY_LM
from tests.reference_corpora import reference

convokit = pytest.importorskip("convokit", reason="ConvoKit is not installed")


def theirs(corpus: Corpus, folder: Path) -> Any:
    return convokit.Corpus(filename=str(corpus.dump("ours", folder)))


def scores(corpus: Any) -> dict[str, float]:
    return {each.id: each.meta["redirection"] for each in corpus.iter_utterances() if "redirection" in each.meta}


@pytest.mark.parametrize(
    "name", ["c01_basic3", "c03_silent_mediator", "c06_named_mediator", "c08_empties", "c09_shuffled"]
)
def test_convokits_objects_get_the_same_scores_details_and_status(name: str, tmp_path: Path) -> None:
    ours = reference(name).corpus
    loaded = theirs(ours, tmp_path)
    model = HFLikelihoodModel(TINY_LM, device="cpu")
    for counterfactual in ("delete", "prev"):  # the second run clears what the first wrote
        scorer = MediatorRedirection(model, counterfactual)
        scorer.transform(ours, verbosity=0)
        scorer.transform(loaded, verbosity=0)
    assert scores(loaded) == scores(ours)
    assert scorer.summary_rows(loaded) == scorer.summary_rows(ours)
    for conversation in ours.iter_conversations():
        other = loaded.get_conversation(conversation.id)
        for key in ("redirection", "redirection_status"):
            assert other.meta[key] == conversation.meta[key]


def test_our_likelihood_model_takes_the_place_of_convokits(tmp_path: Path) -> None:
    """In ConvoKit's MediatorRedirection, on a corpus in order of time, the scores are ours."""
    redirection = pytest.importorskip("convokit.ai_evaluation", reason="ConvoKit's evaluators are not installed")
    ours = reference("c01_basic3").corpus
    loaded = theirs(ours, tmp_path)
    model = HFLikelihoodModel(TINY_LM, device="cpu")
    redirection.MediatorRedirection(model).transform(loaded)
    MediatorRedirection(model).transform(ours, verbosity=0)
    assert scores(loaded) == pytest.approx(scores(ours), abs=1e-3)
