"""How many sequences per CPU second MediatorRedirection scores, beside a plain loop.

    python benchmarks/redirection_bench.py

The model has random weights, 70 million parameters and a vocabulary of 128,256, in single precision; texts are random
words, a token each: participants' turns of 10 to 50 tokens, mediator's turns of 30 to 70. A sequence is a context and
the reply to it; a comparison is two of them. The plain loop reads one sequence at a time and computes the
probabilities of the whole vocabulary at every place, as ConvoKit's likelihood model does. Target: 4 times as many
sequences per CPU second. Prints JSON.
"""

import json
import os
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import click
import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from evaluators.models.causal_lm import HFLikelihoodModel
from evaluators.models.reply_likelihood import BLANK_LINE, Comparison

VOCABULARY = 128_256


def language_model(hidden: int, layers: int, inner: int, *, tied: bool) -> LlamaForCausalLM:
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        num_hidden_layers=layers,
        intermediate_size=inner,
        num_attention_heads=hidden // 64,
        num_key_value_heads=hidden // 64,
        max_position_embeddings=2048,
        initializer_range=0.1,  # log-probabilities far from uniform, so that the two can differ
        tie_word_embeddings=tied,
    )
    return LlamaForCausalLM(config).eval()


def word_tokenizer() -> PreTrainedTokenizerFast:
    words = ["<bos>", "<unk>", BLANK_LINE, "Ann:", "Ben:", "mediator:"]
    words += [f"w{number}" for number in range(VOCABULARY - len(words))]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\n\n|[^\s]+"), "removed", invert=True)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<bos>", unk_token="<unk>")


def comparisons(count: int) -> list[Comparison]:
    pick = random.Random(1)

    def line(name: str, shortest: int, longest: int) -> str:
        words = (f"w{pick.randrange(100_000)}" for _ in range(pick.randint(shortest, longest)))
        return f"{name}: {' '.join(words)}"

    made = []
    for _ in range(count):
        before, turn, other, reply = (
            line("Ann", 10, 50),
            line("mediator", 30, 70),
            line("mediator", 30, 70),
            line("Ben", 10, 50),
        )
        made.append(Comparison((before, turn), (before, other), (reply,)))
    return made


@torch.no_grad()
def plain_loop(model: Any, tokenizer: Any, given: Sequence[Comparison]) -> list[float]:
    """A summed log-probability for each context of each comparison."""
    sums = []
    for each in given:
        for context in (each.actual, each.reference):
            before = tokenizer.encode("<bos> " + BLANK_LINE.join((*context, "")))
            reply = tokenizer.encode(BLANK_LINE.join(each.reply))
            probabilities = torch.softmax(model(torch.tensor([before + reply])).logits, dim=-1)
            first = len(before) - 1
            sums.append(
                sum(torch.log(probabilities[0, first + place, token]).item() for place, token in enumerate(reply))
            )
    return sums


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds of this process, seconds on the clock, and what the work gave."""
    cpu, clock = time.process_time(), time.perf_counter()
    result = work()
    return time.process_time() - cpu, time.perf_counter() - clock, result


@click.command()
@click.option("--comparisons", "count", default=24, show_default=True)
@click.option("--threads", default=1, show_default=True)
@click.option("--rounds", default=2, show_default=True, help="The best of so many is taken, for both alike.")
@click.option("--shape", default=(384, 12, 1024), type=(int, int, int), show_default=True, help="Width, layers, inner.")
@click.option("--tied/--untied", default=True, show_default=True, help="Input and output embeddings are one.")
def main(count: int, threads: int, rounds: int, shape: tuple[int, int, int], tied: bool) -> None:
    """Measure both on the same comparisons and check that they give the same log-probabilities."""
    torch.set_num_threads(threads)
    tokenizer, model = word_tokenizer(), language_model(*shape, tied=tied)
    given = comparisons(count)
    ours = HFLikelihoodModel(model, tokenizer, device="cpu")
    ours.compare(given[:2])
    plain_loop(model, tokenizer, given[:1])
    plain = min(
        (cpu_seconds(lambda: plain_loop(model, tokenizer, given)) for _ in range(rounds)), key=lambda run: run[0]
    )
    scored = min((cpu_seconds(lambda: ours.compare(given)) for _ in range(rounds)), key=lambda run: run[0])
    values = [value for each in scored[2] for value in (each.actual, each.reference)]
    difference = max(abs(one - other) for one, other in zip(plain[2], values, strict=True))
    assert difference < 1e-2, difference
    figures = {
        "parameters": sum(each.numel() for each in model.parameters()),
        "vocabulary": VOCABULARY,
        "sequences": 2 * count,
        "threads": threads,
        "plain_sequences_per_cpu_s": 2 * count / plain[0],
        "our_sequences_per_cpu_s": 2 * count / scored[0],
        "times": plain[0] / scored[0],
        "plain_s": plain[1],
        "our_s": scored[1],
        "largest_difference": f"{difference:.1e}",
        "load": os.getloadavg()[0],
    }
    click.echo(
        json.dumps(
            {key: round(value, 4) if isinstance(value, float) else value for key, value in figures.items()}, indent=2
        )
    )


if __name__ == "__main__":
    main()
