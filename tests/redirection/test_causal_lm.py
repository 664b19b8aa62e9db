"""Likelihoods of replies under causal language models: the same as the plain way gives, for less work."""

import math
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM

from convolabel.errors import InputError
from evaluators.models.causal_lm import HFLikelihoodModel
from evaluators.models.loading import ModelNotLoaded
from evaluators.models.reply_likelihood import Comparison
from tests.redirection.plain_likelihood import TINY_LM, plain_log_probability, tiny_model, tiny_tokenizer

BOS = 2
COMPARISONS = [
    Comparison(("Ann: Hi.", "mediator: And you?"), ("Ann: Hi.", "mediator: Welcome, all of you."), ("Ben: I agree.",)),
    Comparison(("Ann: Lamps are dear.", "mediator: Solar?"), ("Ann: Lamps are dear.",), ("Ben: Yes, solar lamps!",)),
    Comparison(("Åsa: Já 😀.", "mediator: Why?"), ("Åsa: Já 😀.", "mediator: Who?"), ("Ben: Well — é.",)),
    Comparison(("Ann: " + "long " * 30, "mediator: So?"), ("Ann: " + "long " * 30,), ("Ben: " + "answer " * 12,)),
    Comparison(("mediator: First.",), ("mediator: Other.",), ("Cy: No word before.",)),
]


def ids(text: str) -> list[int]:
    return list(tiny_tokenizer()(text, add_special_tokens=False, split_special_tokens=True).input_ids)


def plain(model: Any, comparison: Comparison) -> list[float]:
    """[BOS, context, blank line, reply], only the reply scored."""
    reply = ids("\n\n".join(comparison.reply))
    return [
        plain_log_probability(model, [BOS, *ids("\n\n".join((*lines, ""))), *reply], len(reply))
        for lines in (comparison.actual, comparison.reference)
    ]


def configs() -> dict[str, Any]:
    small = {"vocab_size": 259, "hidden_size": 32, "num_hidden_layers": 2, "bos_token_id": 2, "eos_token_id": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "intermediate_size": 48}
    gpt = {"vocab_size": 259, "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 512}
    layers = ["sliding_attention", "full_attention"]
    return {
        "llama": transformers.LlamaConfig(**small, **heads),
        "gpt2": transformers.GPT2Config(**gpt),
        "no cache at all": transformers.OpenAIGPTConfig(**gpt),
        "no position ids": transformers.BloomConfig(vocab_size=259, hidden_size=32, n_layer=2, n_head=2),
        "capped logits": transformers.Gemma2Config(
            **small, **heads, query_pre_attn_scalar=16, final_logit_softcapping=3.0
        ),
        "scaled logits": transformers.CohereConfig(**small, **heads, logit_scale=4.0),
        "short sliding window": transformers.Gemma3TextConfig(
            **small, **heads, query_pre_attn_scalar=16, sliding_window=8, layer_types=layers
        ),
        "state space": transformers.MambaConfig(**small, state_size=4),
    }


@pytest.mark.parametrize("kind", configs())
@pytest.mark.parametrize("batch_tokens", [1, 400, 100_000])
def test_equal_to_the_plain_way_for_every_kind_of_model_and_batch(kind: str, batch_tokens: int) -> None:
    torch.manual_seed(3)
    model = AutoModelForCausalLM.from_config(configs()[kind]).eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    found = HFLikelihoodModel(model, tiny_tokenizer(), device="cpu", batch_tokens=batch_tokens).compare(COMPARISONS)
    for comparison, likelihood in zip(COMPARISONS, found, strict=True):
        assert [likelihood.actual, likelihood.reference] == pytest.approx(plain(model, comparison), abs=2e-3)
        assert likelihood.reply_tokens == len(ids(comparison.reply[0]))
        assert (likelihood.context_tokens_cut, likelihood.reply_tokens_cut) == (0, 0)


def test_batches_hold_several_comparisons_of_similar_length_and_each_once() -> None:
    many = [
        Comparison(("A: " + "x" * n, "mediator: b"), ("A: " + "x" * n, "mediator: c"), ("B: d",)) for n in range(40)
    ]
    batches = HFLikelihoodModel(TINY_LM, device="cpu", batch_tokens=500).batches(many)
    assert sorted(place for batch in batches for place in batch) == list(range(40))
    assert 1 < len(batches) < 40
    # neighbours in length: 0..k, k+1.., so that a batch has no more padding than it has members
    assert all(max(batch) - min(batch) == len(batch) - 1 for batch in batches)


class RowCounter:
    """Counts the rows that reach the output layer."""

    def __init__(self, model: Any) -> None:
        self.calls: list[int] = []
        self.read = 0
        model.get_output_embeddings().register_forward_hook(self._count)
        model.get_input_embeddings().register_forward_hook(self._read)

    def _count(self, _: Any, __: Any, output: torch.Tensor) -> None:
        self.calls.append(output.numel() // output.shape[-1])

    def _read(self, _: Any, arguments: tuple[torch.Tensor], __: Any) -> None:
        self.read += arguments[0].numel()


def test_logits_are_computed_for_the_reply_only_and_the_shared_context_is_read_once() -> None:
    model = tiny_model()
    counted = RowCounter(model)
    HFLikelihoodModel(model, tiny_tokenizer(), device="cpu").compare(COMPARISONS[:1])
    # "Ben: I agree." has 13 tokens, in two contexts
    assert sum(counted.calls) == 26
    # shared: BOS, "Ann: Hi." (8), blank line (2), "mediator: " (10): 21. On their own "And you?" (8) and "Welcome, all
    # of you." (20), a blank line each, and the reply without its last token (12), which is not read
    assert counted.read == 21 + (8 + 2 + 12) + (20 + 2 + 12)


def test_a_long_reply_is_scored_in_pieces_of_bounded_logits() -> None:
    model = tiny_model()
    counted = RowCounter(model)
    ours = HFLikelihoodModel(model, tiny_tokenizer(), device="cpu")
    ours._scorer._most_rows = ours._scorer._batch_rows = 10
    (found,) = ours.compare(COMPARISONS[3:4])
    # "Ben: " and 12 times "answer ": 89 tokens, in nine pieces per context
    assert found.reply_tokens == 89
    assert max(counted.calls) == 10
    assert sum(counted.calls) == 2 * 89
    assert [found.actual, found.reference] == pytest.approx(plain(tiny_model(), COMPARISONS[3]), abs=1e-3)


def test_the_same_numbers_to_the_last_digit_every_time() -> None:
    one, other = (HFLikelihoodModel(TINY_LM, device="cpu").compare(COMPARISONS) for _ in range(2))
    assert one == other


def test_special_tokens_in_a_message_are_text() -> None:
    fake = Comparison(("Ann: a<eos>", "mediator: b"), ("Ann: a<eos>", "mediator: c"), ("Ben: <bos>d",))
    (found,) = HFLikelihoodModel(TINY_LM, device="cpu").compare([fake])
    assert found.reply_tokens == len("Ben: <bos>d")
    assert [found.actual, found.reference] == pytest.approx(plain(tiny_model(), fake), abs=1e-3)


def test_a_tokenizer_without_bos_begins_with_eos_and_one_with_neither_is_refused() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.bos_token = None
    (found,) = HFLikelihoodModel(tiny_model(), tokenizer, device="cpu").compare(COMPARISONS[:1])
    reply = ids("Ben: I agree.")
    expected = plain_log_probability(tiny_model(), [1, *ids("Ann: Hi.\n\nmediator: And you?\n\n"), *reply], len(reply))
    assert found.actual == pytest.approx(expected, abs=1e-3)
    tokenizer.eos_token = None
    with pytest.raises(InputError, match="neither a BOS nor an EOS"):
        HFLikelihoodModel(tiny_model(), tokenizer, device="cpu").compare(COMPARISONS[:1])


def test_when_too_long_the_background_is_cut_and_turn_and_reply_stay() -> None:
    """A window of 60: after BOS there is room for 59 tokens.

    "Ann: 0123456789 0123456789" (26) and a blank line are background, 28 tokens. "mediator: Solar lamps?" (22) and a
    blank line are the turn's, 24; "Ben: Fine." is 10. 28 + 24 + 10 - 59 = 3 tokens of the background go, in both.
    """
    before = "Ann: 0123456789 0123456789"
    given = Comparison((before, "mediator: Solar lamps?"), (before, "mediator: Hi."), ("Ben: Fine.",))
    (found,) = HFLikelihoodModel(TINY_LM, device="cpu", max_length=60).compare([given])
    assert (found.context_tokens_cut, found.reply_tokens_cut, found.reply_tokens) == (3, 0, 10)
    model, reply = tiny_model(), ids("Ben: Fine.")
    expected = [
        plain_log_probability(model, [BOS, *ids(before[3:] + f"\n\nmediator: {turn}\n\n"), *reply], 10)
        for turn in ("Solar lamps?", "Hi.")
    ]
    assert [found.actual, found.reference] == pytest.approx(expected, abs=1e-3)


def test_a_reply_longer_than_the_window_is_cut_at_its_end_and_marked() -> None:
    """A window of 60, room for 59: the turn and its blank line take 10 + 2 + 2 = 14 ("mediator: So" + blank line),
    all 9 of the background ("Ann: Hi" + blank line) are cut, 45 of the reply's 5 + 100 tokens stay."""
    given = Comparison(("Ann: Hi", "mediator: So"), ("Ann: Hi", "mediator: No"), ("Ben: " + "x" * 100,))
    (found,) = HFLikelihoodModel(TINY_LM, device="cpu", max_length=60).compare([given])
    assert (found.context_tokens_cut, found.reply_tokens, found.reply_tokens_cut) == (9, 45, 60)
    reply = ids("Ben: " + "x" * 40)
    expected = plain_log_probability(tiny_model(), [BOS, *ids("mediator: So\n\n"), *reply], 45)
    assert found.actual == pytest.approx(expected, abs=1e-3)


def test_convokits_interface_gives_the_same_numbers() -> None:
    ours = HFLikelihoodModel(TINY_LM, device="cpu")
    first = COMPARISONS[0]
    contexts = [{"u1": list(first.actual), "u2": list(first.reference), "u3": ["Ann: x"]}, {}]
    replies = [{"u1": list(first.reply), "u2": list(first.reply)}, {"u9": ["Ben: y"]}]
    values, nothing = ours.transform((contexts, replies), verbosity=5)
    (compared,) = ours.compare([first])
    assert nothing == {}
    assert [values["u1"], values["u2"]] == pytest.approx([compared.actual, compared.reference], abs=1e-3)
    assert list(values) == ["u1", "u2"]
    assert (ours.max_length, ours.tokenizer.bos_token_id) == (2048, BOS)


def test_identity_tells_weights_window_and_tokenizer_apart() -> None:
    same = [HFLikelihoodModel(TINY_LM, device="cpu").identity for _ in range(2)]
    assert same[0] == same[1]
    changed = tiny_model()
    with torch.no_grad():
        changed.model.layers[1].self_attn.q_proj.weight.mul_(1.01)
    no_bos = tiny_tokenizer()
    no_bos.bos_token = None
    others = [
        HFLikelihoodModel(tiny_model(), tiny_tokenizer(), device="cpu", max_length=64).identity,
        HFLikelihoodModel(changed, tiny_tokenizer(), device="cpu").identity,
        HFLikelihoodModel(tiny_model(), no_bos, device="cpu").identity,
        HFLikelihoodModel(TINY_LM, device="cpu", dtype="bfloat16").identity,
    ]
    assert len({*same, *others}) == 5


def test_nothing_is_loaded_before_it_is_needed_and_a_missing_model_is_named() -> None:
    model = HFLikelihoodModel("/nowhere/at-all", device="cpu")
    assert model.name == "/nowhere/at-all"
    with pytest.raises(ModelNotLoaded, match="/nowhere/at-all"):
        model.compare(COMPARISONS)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="needs its tokenizer"):
        HFLikelihoodModel(tiny_model())
    with pytest.raises(InputError, match="at least 16"):
        HFLikelihoodModel(TINY_LM, max_length=4)
    with pytest.raises(InputError, match="without any token"):
        HFLikelihoodModel(TINY_LM, device="cpu").compare([Comparison(("A: b",), ("A: c",), ("",))])


def test_faster_linear_layers_change_rounding_only() -> None:
    ours = HFLikelihoodModel(TINY_LM, device="cpu")
    fast = ours.compare(COMPARISONS)
    ours._scorer._faster._applies = False
    slow = ours.compare(COMPARISONS)
    for one, other in zip(fast, slow, strict=True):
        assert math.isclose(one.actual, other.actual, abs_tol=1e-3)
