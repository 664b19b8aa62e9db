"""MediatorRedirection over corpora: what is written, what fails, what is kept for the next run."""

import math
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from convolabel.errors import InputError
from evaluators import MediatorRedirection
from evaluators.corpus import Conversation, Corpus
from evaluators.models.causal_lm import HFLikelihoodModel
from evaluators.models.loading import ModelNotLoaded
from evaluators.models.reply_likelihood import Comparison, ReplyLikelihood
from evaluators.run_report import Status
from tests.redirection.plain_likelihood import TINY_LM, SharedWords, talk, talks

TURNS = [
    ("m", "Welcome to all."),
    ("a", "Lamps are dear."),
    ("m", "Solar lamps?"),
    ("b", "Solar lamps are fine."),
    ("m", "Anything else?"),
    ("a", "No."),
]
SCORED = ["u2", "u4"]


class Counting:
    """Our interface; log-probability -2 after the actual context and -3 after the reference, 4 tokens."""

    def __init__(self, identity: str | None = "counting") -> None:
        self.identity = identity
        self.compared: list[Comparison] = []

    def batches(self, comparisons: Sequence[Comparison]) -> list[list[int]]:
        return [[place] for place in range(len(comparisons))]

    def compare(self, comparisons: Sequence[Comparison]) -> list[ReplyLikelihood]:
        self.compared += comparisons
        return [self.value(each) for each in comparisons]

    def value(self, comparison: Comparison) -> ReplyLikelihood:
        return ReplyLikelihood(-2.0, -3.0, 4)


class Changing(Counting):
    """Raises, or gives another value, for the conversations in which somebody says a certain word."""

    def __init__(self, word: str, outcome: Exception | ReplyLikelihood) -> None:
        super().__init__(f"changing {word}")
        self._word, self._outcome = word, outcome

    def value(self, comparison: Comparison) -> ReplyLikelihood:
        if not any(self._word in line for line in (*comparison.actual, *comparison.reply)):
            return super().value(comparison)
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


# ln(p / (1 - p)): e^-2 = 0.135335, e^-3 = 0.049787; -2 + 0.145413 = -1.854587, -3 + 0.051069 = -2.948931
SCORE = 1.094344


def only(corpus: Corpus) -> Conversation:
    (conversation,) = corpus.iter_conversations()
    return conversation


def scores(corpus: Corpus, attribute: str = "redirection") -> dict[str, Any]:
    return {each.id: each.meta[attribute] for each in corpus.iter_utterances() if attribute in each.meta}


def test_scores_details_roles_and_status() -> None:
    corpus = talk(TURNS)
    scorer = MediatorRedirection(Counting())
    assert scorer.transform(corpus, verbosity=0) is corpus
    assert scores(corpus) == pytest.approx({"t.u2": SCORE, "t.u4": SCORE}, abs=1e-5)
    assert only(corpus).meta["redirection"]["t.u2"] == {
        "summed": pytest.approx(SCORE, abs=1e-5),
        "per_token": pytest.approx(SCORE / 4, abs=1e-5),
        "reply_tokens": 4,
        "actual_log_probability": -2.0,
        "reference_log_probability": -3.0,
        "context_tokens_cut": 0,
        "reply_tokens_cut": 0,
    }
    assert only(corpus).meta["redirection_status"] == {
        "status": "complete",
        "counterfactual": "prev",
        "normalize": "sum",
        "not_finite": [],
    }
    roles = [each.meta["redirection_role"] for each in corpus.iter_utterances()]
    assert roles == ["mediator", "a", "mediator", "b", "mediator", "a"]
    assert "role" not in next(corpus.iter_utterances()).meta


def test_per_token_scores() -> None:
    corpus = talk(TURNS)
    scorer = MediatorRedirection(Counting(), normalize="token")
    scorer.transform(corpus, verbosity=0)
    assert scores(corpus)["t.u2"] == pytest.approx(SCORE / 4, abs=1e-5)
    assert scorer.summary_rows(corpus) == [
        {"conversation_id": "t", "n_scored": 2, "redirection_mean": pytest.approx(SCORE / 4, abs=1e-5)}
    ]
    with pytest.raises(InputError, match="sum, token"):
        MediatorRedirection(Counting(), normalize="mean")


def test_per_token_scores_of_a_model_that_tells_no_tokens_fail_and_say_so() -> None:
    corpus = talk(TURNS)
    scorer = MediatorRedirection(SharedWords(), normalize="token")
    scorer.transform(corpus, verbosity=0)
    assert scorer.report is not None
    assert scorer.report.statuses == {"t": Status.FAILED}
    assert "normalize='sum'" in scorer.report.text()
    assert scores(corpus) == {}


def test_another_attribute_name() -> None:
    corpus = talk(TURNS)
    scorer = MediatorRedirection(Counting(), redirection_attribute_name="steered")
    scorer.transform(corpus, verbosity=0)
    assert list(scores(corpus, "steered")) == ["t.u2", "t.u4"]
    assert only(corpus).meta["steered_status"]["status"] == "complete"
    assert scorer.summary_rows(corpus)[0]["n_scored"] == 2


def test_a_rerun_clears_what_the_earlier_one_wrote() -> None:
    corpus = talk(TURNS)
    MediatorRedirection(Counting(), "delete").transform(corpus, verbosity=0)
    for utterance in corpus.iter_utterances():
        if utterance.id == "t.u3":
            utterance.text = " "
    corpus.get_utterance("t.u5").meta["redirection"] = 7.0  # as an earlier run with other mediators leaves it
    MediatorRedirection(Counting(), "delete").transform(corpus, verbosity=0)
    # without a reply u2 is not scored; u4 has the blank u3 before it
    assert list(scores(corpus)) == ["t.u4"]
    assert list(only(corpus).meta["redirection"]) == ["t.u4"]


def test_nothing_to_score_is_a_status_of_its_own_and_clears_too() -> None:
    corpus = talk(TURNS[:2])
    corpus.get_utterance("t.u0").meta["redirection"] = 7.0
    scorer = MediatorRedirection(Counting())
    scorer.transform(corpus, verbosity=0)
    assert scores(corpus) == {}
    assert scorer.report is not None
    assert scorer.report.statuses == {"t": Status.EMPTY}
    assert list(scorer.summarize(corpus).columns) == ["conversation_id", "n_scored", "redirection_mean"]
    assert len(scorer.summarize(corpus)) == 0


def test_a_failed_conversation_leaves_the_others_alone_and_keeps_earlier_scores_as_stale() -> None:
    corpus = talks({"one": TURNS, "two": [*TURNS[:3], ("b", "Poison."), *TURNS[4:]]})
    MediatorRedirection(Counting()).transform(corpus, verbosity=0)
    before = scores(corpus)
    scorer = MediatorRedirection(Changing("Poison", RuntimeError("Ann is ill")))
    scorer.transform(corpus, verbosity=0)
    assert scorer.report is not None
    assert scorer.report.statuses == {"one": Status.COMPLETE, "two": Status.STALE}
    assert [(each.conversation_id, each.stage) for each in scorer.report.failures] == [("two", "scoring")]
    assert "RuntimeError" in scorer.report.text()
    assert "Ann" not in scorer.report.text()
    assert scores(corpus) == before
    assert corpus.get_conversation("two").meta["redirection_status"]["status"] == "stale"


def test_a_first_run_that_fails_leaves_no_score() -> None:
    corpus = talk(TURNS)
    scorer = MediatorRedirection(Changing("Solar", RuntimeError("no")))
    scorer.transform(corpus, verbosity=0)
    assert scorer.report is not None
    assert scorer.report.statuses == {"t": Status.FAILED}
    assert scores(corpus) == {}
    assert scorer.summary_rows(corpus) == []


@pytest.mark.parametrize(
    "value",
    [
        ReplyLikelihood(math.nan, -3.0, 4),
        ReplyLikelihood(-math.inf, -3.0, 4),
        ReplyLikelihood(-2.0, 0.0, 4),  # certain: its log-odds are infinite
        ReplyLikelihood(-math.inf, -math.inf, 4),
    ],
)
def test_values_that_are_not_finite_are_left_out_and_counted(value: ReplyLikelihood) -> None:
    corpus = talk(TURNS)
    # "Anything" is said in u4 only
    scorer = MediatorRedirection(Changing("Anything", value))
    scorer.transform(corpus, verbosity=0)
    assert list(scores(corpus)) == ["t.u2"]
    assert scorer.report is not None
    assert scorer.report.counts["mediator turns left out, for their score is not finite"] == 1
    assert scorer.report.statuses == {"t": Status.PARTIAL}
    assert only(corpus).meta["redirection_status"]["not_finite"] == ["t.u4"]


def test_a_run_with_no_finite_value_failed() -> None:
    corpus = talk(TURNS)
    scorer = MediatorRedirection(Changing("", ReplyLikelihood(math.nan, math.nan, 4)))
    scorer.transform(corpus, verbosity=0)
    assert scorer.report is not None
    assert scorer.report.statuses == {"t": Status.FAILED}
    assert scorer.report.failures[0].kind == "not_finite"


def test_a_selector_leaves_the_others_alone() -> None:
    corpus = talks({"one": TURNS, "two": TURNS})
    MediatorRedirection(Counting()).transform(corpus, selector=lambda each: each.id == "two", verbosity=0)
    assert set(scores(corpus)) == {"two.u2", "two.u4"}
    assert "redirection_role" not in corpus.get_utterance("one.u0").meta


def test_progress_is_printed_every_so_often(capsys: pytest.CaptureFixture[str]) -> None:
    corpus = talks({f"c{number}": TURNS for number in range(5)})
    MediatorRedirection(Counting()).transform(corpus, verbosity=2)
    assert capsys.readouterr().err.splitlines() == [
        "2 / 5 conversations",
        "4 / 5 conversations",
        "5 / 5 conversations",
    ]
    MediatorRedirection(Counting()).transform(corpus, verbosity=0)
    assert capsys.readouterr().err == ""


def test_conversations_without_timestamps_are_read_in_file_order_with_one_warning() -> None:
    corpus = talks({"one": TURNS, "two": TURNS})
    for utterance in corpus.iter_utterances():
        utterance.timestamp = None
    with pytest.warns(UserWarning, match="2 conversations are read in file order") as warned:
        MediatorRedirection(Counting()).transform(corpus, verbosity=0)
    assert len(warned) == 1
    assert len(scores(corpus)) == 4


def test_objects_that_are_no_likelihood_model_are_refused() -> None:
    with pytest.raises(InputError, match="int is no likelihood model"):
        MediatorRedirection(5).transform(talk(TURNS))


def test_a_likelihood_model_that_leaves_replies_out_fails_the_conversation() -> None:
    class Silent:
        def transform(self, test_data: Any) -> list[dict[str, float]]:
            return [{}]

    scorer = MediatorRedirection(Silent())
    scorer.transform(talk(TURNS), verbosity=0)
    assert scorer.report is not None
    assert "Silent.transform gave no log-probability" in scorer.report.text()


def test_a_model_that_cannot_be_loaded_is_an_error_of_the_run(tmp_path: Path) -> None:
    corpus = talk(TURNS)
    with pytest.raises(ModelNotLoaded, match="nowhere"):
        MediatorRedirection(HFLikelihoodModel(tmp_path / "nowhere")).transform(corpus)
    assert "redirection_status" not in only(corpus).meta


def test_the_default_model_is_a_gemma_that_is_not_loaded_before_it_is_needed() -> None:
    assert MediatorRedirection().likelihood_model.name == "google/gemma-2b"


def test_a_second_run_into_a_folder_computes_nothing(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    MediatorRedirection(first, run_folder=tmp_path).transform(talk(TURNS), verbosity=0)
    corpus = talk(TURNS)
    scorer = MediatorRedirection(second, run_folder=tmp_path)
    scorer.transform(corpus, verbosity=0)
    assert (len(first.compared), second.compared) == (2, [])
    assert scores(corpus) == pytest.approx({"t.u2": SCORE, "t.u4": SCORE}, abs=1e-5)
    assert scorer.report is not None
    assert scorer.report.counts["turns taken from the store"] == 2
    assert (tmp_path / "redirection_report.json").exists()


@pytest.mark.parametrize(
    ("model", "counterfactual", "turns"),
    [
        (Counting("other weights"), "prev", TURNS),
        (Counting(), "delete", TURNS),
        (Counting(), "prev", [*TURNS[:3], ("b", "Another reply."), *TURNS[4:]]),
    ],
)
def test_another_model_comparison_or_text_is_computed_anew(
    model: Counting, counterfactual: str, turns: list[tuple[str, str]], tmp_path: Path
) -> None:
    model.compared.clear()
    MediatorRedirection(Counting(), run_folder=tmp_path).transform(talk(TURNS), verbosity=0)
    MediatorRedirection(model, counterfactual, run_folder=tmp_path).transform(talk(turns), verbosity=0)
    assert len(model.compared) == 2


def test_a_model_without_identity_is_not_kept_and_the_report_says_so(tmp_path: Path) -> None:
    for _ in range(2):
        model = Counting(None)
        scorer = MediatorRedirection(model, run_folder=tmp_path)
        scorer.transform(talk(TURNS), verbosity=0)
        assert len(model.compared) == 2
    assert scorer.report is not None
    assert "no identity" in scorer.report.text()


def test_stored_scores_are_the_computed_ones_to_the_last_digit(tmp_path: Path) -> None:
    alone, computed, stored = (talks({"one": TURNS, "two": TURNS[1:]}) for _ in range(3))
    MediatorRedirection(HFLikelihoodModel(TINY_LM, device="cpu")).transform(alone, verbosity=0)
    for corpus in (computed, stored):
        model = HFLikelihoodModel(TINY_LM, device="cpu")
        MediatorRedirection(model, run_folder=tmp_path).transform(corpus, verbosity=0)
    assert scores(alone) == scores(computed) == scores(stored) != {}


def test_ctrl_c_keeps_what_is_computed_and_the_next_run_goes_on(tmp_path: Path) -> None:
    main, usual = threading.get_ident(), signal.getsignal(signal.SIGINT)

    class Interrupted(Counting):
        def value(self, comparison: Comparison) -> ReplyLikelihood:
            if len(self.compared) == 4:  # the last turn of the second conversation
                time.sleep(0.3)  # the main thread waits by then; on its way there a signal would not wake it
                signal.pthread_kill(main, signal.SIGINT)
                while signal.getsignal(signal.SIGINT) is not usual:  # until the run has taken notice
                    time.sleep(0.01)
            return super().value(comparison)

    corpus = talks({f"c{number}": [(who, f"{text} ({number})") for who, text in TURNS] for number in range(5)})
    model = Interrupted()
    scorer = MediatorRedirection(model, run_folder=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        scorer.transform(corpus, verbosity=0)
    assert scorer.report is not None
    assert scorer.report.was_stopped
    finished = [ident for ident, status in scorer.report.statuses.items() if status is Status.COMPLETE]
    assert finished[:1] == ["c0"]
    assert len(finished) < 5
    assert {ident.split(".")[0] for ident in scores(corpus)} == set(finished)
    again = Counting()
    MediatorRedirection(again, run_folder=tmp_path).transform(corpus, verbosity=0)
    assert len(again.compared) == 10 - len(model.compared)
    assert len(scores(corpus)) == 10


class CountingMeta(dict[str, Any]):
    """ConvoKit copies a value at every read."""

    reads = 0
    writes = 0

    def __getitem__(self, key: str) -> Any:
        CountingMeta.reads += 1
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        CountingMeta.reads += 1
        return super().get(key, default)

    def __setitem__(self, key: str, value: Any) -> None:
        CountingMeta.writes += 1
        super().__setitem__(key, value)


@pytest.fixture
def no_counts() -> Iterator[None]:
    yield
    CountingMeta.reads = CountingMeta.writes = 0


def accesses(count: int) -> tuple[int, int]:
    corpus = talks({f"c{number}": TURNS for number in range(count)})
    for owner in (*corpus.iter_utterances(), *corpus.iter_conversations(), *corpus.iter_speakers()):
        owner.meta = CountingMeta(owner.meta)
    CountingMeta.reads = CountingMeta.writes = 0
    MediatorRedirection(Counting()).transform(corpus, verbosity=0)
    return CountingMeta.reads, CountingMeta.writes


@pytest.mark.usefixtures("no_counts")
def test_metadata_accesses_grow_with_the_corpus_and_no_faster() -> None:
    few, many = accesses(5), accesses(50)
    assert [10 * each for each in few] == list(many)
    # a role per utterance, a score per scored turn, details and a status per conversation
    assert many[1] == 50 * (6 + 2 + 2)
