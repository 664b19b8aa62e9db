"""Commands that score whole conversations, into a folder from which a killed run goes on."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from convolabel.llm.prices import Price
    from evaluators.run_report import RunReport

_REMOTE_FAILED = 3


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that asks a language model; `asked_model` makes an evaluator's arguments of them."""
    options = [
        click.option("--model", default="gpt-5-mini", show_default=True, help="Name of the model."),
        click.option("--provider", type=click.Choice(["gpt", "gemini"]), help="Who serves it; else told by its name."),
        click.option("--base-url", help="Address of a server that speaks OpenAI's interface."),
        click.option("--reasoning-effort", default="minimal", show_default=True, help="Of OpenAI's reasoning models."),
        click.option("--seed", type=int, help="Sent to the model."),
        click.option("--workers", default=4, show_default=True, type=click.IntRange(1), help="Conversations at once."),
        click.option("--calls", default=8, show_default=True, type=click.IntRange(1), help="Calls at once."),
        click.option("--per-minute", type=click.IntRange(1), help="Calls a minute at most."),
        click.option("--price", type=(float, float), help="US dollars per million input and output tokens."),
        click.option(
            "--mediator-role", multiple=True, help="A role of mediators; repeatable.  [default: public assistant]"
        ),
        click.option("--dry-run", is_flag=True, help="Say what would be asked for and what it may cost; ask nothing."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("corpus_path", metavar="CORPUS", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the run.")
@click.option(
    "--max-prompt-tokens", default=100_000, show_default=True, type=click.IntRange(1000), help="Longer: windows."
)
@click.option("--min-mediator-utts", default=2, show_default=True, help="Fewer: not in the summary.")
@click.option("--proxies-only", is_flag=True, help="Only the two proxies, which need no model.")
@model_options
def cig(
    corpus_path: Path,
    output: Path,
    max_prompt_tokens: int,
    min_mediator_utts: int,
    proxies_only: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """How much each utterance adds to what the group knew (CIG, 1 to 4).

    CORPUS is a conversation file, a ConvoKit directory or an exported votes table. The folder receives
    cig_utterances.csv, cig_summary.csv, cig_report.json, and every answer as it arrives: run the same command again
    to go on after a stop. The key is read from OPENAI_API_KEY or GEMINI_API_KEY.
    """
    from evaluators.cig import CIG
    from evaluators.cig.rated_folder import estimate, rate_into_folder, write_proxies
    from evaluators.corpus import Corpus
    from evaluators.run_folder import RunFolder

    corpus = Corpus(corpus_path)
    if proxies_only:
        write_proxies(corpus, RunFolder(output), mediator_test(options["mediator_role"]))
        return 0
    if dry_run:
        asked = CIG(
            **asked_model(options, dry_run=True), **_folder_if_there(output), max_prompt_tokens=max_prompt_tokens
        )
        show_estimate(asdict(estimate(corpus, asked)), options, as_json)
        return 0
    folder = RunFolder(output)
    with progress_bar("Rating") as advance:
        rater = CIG(
            **asked_model(options),
            run_folder=folder,
            progress=advance,
            verbosity=0,
            max_prompt_tokens=max_prompt_tokens,
        )
        try:
            rate_into_folder(corpus, rater, folder, min_mediator_utts)
        finally:
            if rater.report is not None and sys.exc_info()[0] is not None:
                click.echo(rater.report.text(), err=True)
    assert rater.report is not None  # noqa: S101 - rate_into_folder made it
    return show_report(rater.report, as_json)


@click.command()
@click.argument("corpus_path", metavar="CORPUS", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the run.")
@click.option("--embedding-model", help="Name or folder.  [default: Qwen/Qwen3-Embedding-0.6B]")
@click.option("--nli-model", help="Name or folder.  [default: cross-encoder/nli-deberta-v3-base]")
@click.option("--device", help="Where these run: cuda, mps, cpu.  [default: the best there is]")
@click.option(
    "--top-k", default=5, show_default=True, type=click.IntRange(0), help="Claims of each other speaker shown."
)
@click.option("--own-cap", default=40, show_default=True, type=click.IntRange(1), help="Own claims shown, about.")
@click.option("--context-window", default=3, show_default=True, type=click.IntRange(0), help="Utterances shown before.")
@click.option(
    "--sibling-entail", default=0.5, show_default=True, type=click.FloatRange(0), help="From here on paraphrases."
)
@click.option("--match-convokit", is_flag=True, help="Count as ConvoKit 5.0 does.")
@model_options
def claims(
    corpus_path: Path,
    output: Path,
    embedding_model: str | None,
    nli_model: str | None,
    dry_run: bool,
    as_json: bool,
    device: str | None,
    top_k: int,
    own_cap: int,
    context_window: int,
    sibling_entail: float,
    match_convokit: bool,
    **options: Any,
) -> int:
    """What each speaker claims, and how far participants come to share it (ClaimTracker).

    CORPUS is a conversation file, a ConvoKit directory or an exported votes table. The folder receives
    claims_summary.csv, claims_agreement.csv, claims_memory.csv, claims_utterances.csv, claims_report.json, and every
    answer as it arrives: run the same command again to go on after a stop. The key is read from OPENAI_API_KEY or
    GEMINI_API_KEY. --workers conversations are built at once; as many others are begun or judged meanwhile.
    """
    from evaluators.claims import ClaimTracker
    from evaluators.claims.tracked_folder import estimate, track_into_folder
    from evaluators.corpus import Corpus
    from evaluators.run_folder import RunFolder

    corpus = Corpus(corpus_path)
    named = {"embedding_model": embedding_model, "nli_model": nli_model}
    method: dict[str, Any] = {
        **{name: given for name, given in named.items() if given is not None},
        "device": device,
        "top_k": top_k,
        "own_cap": own_cap,
        "context_window": context_window,
        "sibling_entail": sibling_entail,
        "match_convokit": match_convokit,
    }
    if dry_run:
        asked = ClaimTracker(**asked_model(options, dry_run=True, json_mode=True), **_folder_if_there(output), **method)
        show_estimate(asdict(estimate(corpus, asked)), options, as_json)
        return 0
    folder = RunFolder(output)
    with progress_bar("Tracking") as advance:
        tracker = ClaimTracker(
            **asked_model(options, json_mode=True), run_folder=folder, progress=advance, verbosity=0, **method
        )
        try:
            track_into_folder(corpus, tracker, folder)
        finally:
            if tracker.report is not None and sys.exc_info()[0] is not None:
                click.echo(tracker.report.text(), err=True)
    assert tracker.report is not None  # noqa: S101 - track_into_folder made it
    return show_report(tracker.report, as_json)


@click.command()
@click.argument("corpus_path", metavar="CORPUS", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the run.")
@click.option("--model", help="Causal language model: name or folder.  [default: google/gemma-2b]")
@click.option("--device", help="Where it runs: cuda, mps, cpu.  [default: the best there is]")
@click.option(
    "--dtype",
    default="float32",
    show_default=True,
    type=click.Choice(["float32", "bfloat16", "float16"]),
    help="Of its weights.",
)
@click.option("--max-length", type=click.IntRange(16), help="Window in tokens.  [default: the model's, at most 8192]")
@click.option(
    "--counterfactual",
    default="prev",
    show_default=True,
    type=click.Choice(["prev", "delete"]),
    help="What a turn is compared with: the mediator's previous turn, or none.",
)
@click.option(
    "--normalize",
    default="sum",
    show_default=True,
    type=click.Choice(["sum", "token"]),
    help="Score of the whole reply, or per token of it.",
)
@click.option("--mediator-role", multiple=True, help="A role of mediators; repeatable.  [default: public assistant]")
@click.option("--dry-run", is_flag=True, help="Say what would be computed; load no model.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def redirection(
    corpus_path: Path,
    output: Path,
    model: str | None,
    device: str | None,
    dtype: str,
    max_length: int | None,
    counterfactual: str,
    normalize: str,
    mediator_role: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
) -> int:
    """How much more expected each mediator turn made the reply to it.

    CORPUS is a conversation file, a ConvoKit directory or an exported votes table. The folder receives
    redirection_turns.csv, redirection_summary.csv, redirection_report.json, and every likelihood as it is computed:
    run the same command again to go on after a stop. The model is read from its folder or from Hugging Face.
    """
    from evaluators.corpus import Corpus
    from evaluators.models.causal_lm import DEFAULT_CAUSAL_LM, HFLikelihoodModel
    from evaluators.redirection import MediatorRedirection
    from evaluators.redirection.scored_folder import estimate, score_into_folder
    from evaluators.run_folder import RunFolder

    corpus = Corpus(corpus_path)
    likelihoods = HFLikelihoodModel(model or DEFAULT_CAUSAL_LM, device=device, dtype=dtype, max_length=max_length)
    settings: dict[str, Any] = {
        "counterfactual": counterfactual,
        "normalize": normalize,
        "is_mediator": mediator_test(mediator_role),
    }
    if dry_run:
        found = asdict(estimate(corpus, MediatorRedirection(likelihoods, **settings)))
        said = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in found.items())
        click.echo(json.dumps({"estimate": found}, indent=2) if as_json else f"{said}. Nothing was computed.")
        return 0
    folder = RunFolder(output)
    with progress_bar("Scoring") as advance:
        scorer = MediatorRedirection(likelihoods, run_folder=folder, progress=advance, **settings)
        try:
            score_into_folder(corpus, scorer, folder)
        finally:
            if scorer.report is not None and sys.exc_info()[0] is not None:
                click.echo(scorer.report.text(), err=True)
    assert scorer.report is not None  # noqa: S101 - score_into_folder made it
    return show_report(scorer.report, as_json)


def asked_model(options: dict[str, Any], *, dry_run: bool = False, json_mode: bool = False) -> dict[str, Any]:
    """Arguments of an evaluator from `model_options`; a dry run needs no key.

    `json_mode` is for evaluators whose replies are JSON objects.
    """
    from convolabel.llm import Limiter, get_eval_llm_client

    client = get_eval_llm_client(
        options["model"],
        options["provider"],
        reasoning_effort=options["reasoning_effort"],
        seed=options["seed"],
        json_mode=json_mode,
        base_url=options["base_url"],
        api_key="not needed" if dry_run else None,
        limiter=Limiter(options["calls"], options["per_minute"]),
    )
    price = _price(options)
    return {
        "llm_client": client,
        "n_workers": options["workers"],
        "prices": {} if price is None else {client.model: price},
        "is_mediator": mediator_test(options["mediator_role"]),
    }


def mediator_test(roles: tuple[str, ...]) -> Callable[[Any], bool]:
    """Whether a speaker has one of `roles`; without any the usual role of mediators."""
    from evaluators.participants import default_is_mediator

    if not roles:
        return default_is_mediator
    return lambda speaker: (getattr(speaker, "ai_meta", None) or {}).get("role") in roles


def show_estimate(estimate: dict[str, Any], options: dict[str, Any], as_json: bool) -> None:
    """Print what a run would ask for, `input_tokens` and `output_tokens` of it priced."""
    from convolabel.llm.prices import price_of

    price = _price(options) or price_of(options["model"])
    cost = None if price is None else price.cost(estimate["input_tokens"], estimate["output_tokens"])
    if as_json:
        click.echo(json.dumps({"estimate": {**estimate, "cost_usd": cost}}, indent=2))
        return
    said = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in estimate.items())
    money = "price unknown, give --price" if cost is None else f"about ${cost:.2f}"
    click.echo(f"{said}; {money} without reasoning tokens. Nothing was asked.")


def show_report(report: "RunReport", as_json: bool) -> int:
    """Print the report; the exit code is 3 when a conversation has no results of this run, or not all."""
    from evaluators.run_report import Status

    click.echo(json.dumps(report.as_dict(), ensure_ascii=False, indent=2) if as_json else report.text())
    good = (Status.COMPLETE, Status.EMPTY)
    return 0 if all(status in good for status in report.statuses.values()) else _REMOTE_FAILED


@contextmanager
def progress_bar(doing: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, plain lines otherwise; both on stderr, so that stdout stays the result's."""
    if not sys.stderr.isatty():
        yield lambda done, total: click.echo(f"{doing}: {done} of {total}", err=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _folder_if_there(path: Path) -> dict[str, Any]:
    """An estimate looks into a folder and makes none."""
    return {"run_folder": path} if path.is_dir() else {}


def _price(options: dict[str, Any]) -> "Price | None":
    from convolabel.llm.prices import Price

    return None if options["price"] is None else Price(*options["price"])
