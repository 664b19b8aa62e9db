"""Fine-tuning with LoRA on a tiny model."""

from pathlib import Path

import pytest
import torch

from convolabel.errors import InputError, MissingExtraError
from evaluators import MediatorRedirection
from evaluators.models import tuning
from evaluators.models.causal_lm import HFLikelihoodModel
from evaluators.models.reply_likelihood import Comparison
from evaluators.models.tuning import Tuning, tuned
from tests.redirection.plain_likelihood import TINY_LM, SharedWords, talks, tiny_model

TURNS = [
    ("m", "Who would pay for it?"),
    ("a", "The town would pay for it."),
    ("m", "And who else?"),
    ("b", "The state."),
]
FORMAT = (
    "mediator: Who would pay for it?\n\nAnn: The town would pay for it.\n\nmediator: And who else?\n\nb: The state."
)
LEARNED = Comparison(("Ann: The town would pay for it.", "mediator: And who else?"), ("Ann: Hm.",), ("b: The state.",))


class Recorder(SharedWords):
    """ConvoKit's interface, recording what it is to learn from."""

    def fit(self, train_data: object, val_data: object) -> None:
        self.fitted = (train_data, val_data)


def test_the_model_learns_from_whole_conversations_in_the_format_that_is_scored() -> None:
    corpus = talks({"one": TURNS, "two": TURNS[:1], "three": TURNS[2:]}, {"a": "Ann"})
    model = Recorder()
    scorer = MediatorRedirection(model)
    found = scorer.fit(corpus, train_selector=lambda each: each.id != "two", val_selector=lambda each: each.id == "two")
    assert found is scorer
    learn, check = model.fitted
    assert learn == [{"text": FORMAT}, {"text": "mediator: And who else?\n\nb: The state."}]
    assert check == [{"text": "mediator: Who would pay for it?"}]
    MediatorRedirection(model).fit(corpus)
    assert model.fitted[1] is None


def test_blocks_hold_whole_lines_begin_with_bos_and_lose_no_token() -> None:
    """A window of 32: "a: One." and a blank line are 9 tokens, three of them and BOS 28; a fourth would make 37."""
    model = HFLikelihoodModel(TINY_LM, device="cpu", max_length=32)
    line = model._encoder.encode("a: One.\n\n")
    assert len(line) == 9
    blocks = model._blocks("\n\n".join(["a: One."] * 7))
    assert blocks == [[2, *line * 3], [2, *line * 3], [2, *line]]


def test_without_peft_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(MissingExtraError, match=r"convolabel\[tuning\]"):
        tuned(tiny_model(), [[2, 3, 4]], [], Tuning())


class TestWithPeft:
    @pytest.fixture(autouse=True)
    def _needs_peft(self) -> None:
        pytest.importorskip("peft", reason="peft is not installed")

    def test_what_is_learned_becomes_more_likely_and_the_base_model_is_another_one(self) -> None:
        corpus = talks({f"c{number}": TURNS for number in range(4)}, {"a": "Ann"})
        model = HFLikelihoodModel(tiny_model(), HFLikelihoodModel(TINY_LM).tokenizer, device="cpu")
        (before,), identity = model.compare([LEARNED]), model.identity
        texts = MediatorRedirection(model)._texts(corpus, lambda _: True)
        model.fit(texts, tuning=Tuning(epochs=15, learning_rate=1e-2, blocks_per_step=1, dropout=0.0))
        (after,) = model.compare([LEARNED])
        assert after.actual > before.actual + 10
        assert model.identity != identity
        assert not any("lora" in name for name, _ in model.model.named_parameters())

    def test_the_same_seed_gives_the_same_model_and_it_can_be_saved(self, tmp_path: Path) -> None:
        rows = [{"text": FORMAT}] * 3
        one, other = (HFLikelihoodModel(TINY_LM, device="cpu").fit(rows, rows[:1]) for _ in range(2))
        assert one.compare([LEARNED]) == other.compare([LEARNED])
        one.save(tmp_path)
        (found,), (expected,) = HFLikelihoodModel(tmp_path, device="cpu").compare([LEARNED]), one.compare([LEARNED])
        assert found.actual == pytest.approx(expected.actual, abs=1e-4)

    def test_with_conversations_to_check_on_the_best_epoch_is_kept(self) -> None:
        """A learning rate that wrecks the model: what it has not seen becomes likelier at first only."""
        learn, check = [{"text": "a: zzzz qqqq"}] * 4, [{"text": FORMAT}]
        wild = Tuning(epochs=6, learning_rate=0.05, blocks_per_step=1, dropout=0.0)
        last = HFLikelihoodModel(TINY_LM, device="cpu").fit(learn, tuning=wild)
        best = HFLikelihoodModel(TINY_LM, device="cpu").fit(learn, check, tuning=wild)
        block = torch.tensor([best._blocks(FORMAT)[0]])
        with torch.no_grad():
            losses = [model.model(block, labels=block).loss.item() for model in (best, last)]
        assert losses[0] < losses[1] - 0.1

    def test_nothing_to_learn_from_is_an_error(self) -> None:
        with pytest.raises(InputError, match="train_selector"):
            HFLikelihoodModel(TINY_LM, device="cpu").fit([])


def test_tuning_is_not_needed_for_scoring() -> None:
    assert "peft" not in vars(tuning)
