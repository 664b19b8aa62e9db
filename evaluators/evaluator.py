"""What CIG and ClaimTracker share: the model they ask, where its answers are kept, and the report of the last run."""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Self, TypeVar

from convolabel.llm.adapters import as_client
from convolabel.llm.clients import get_eval_llm_client
from convolabel.llm.limiter import Limiter
from convolabel.llm.prices import Price
from convolabel.llm.usage import Usage
from evaluators.run import Progress, Run
from evaluators.run_report import RunReport

if TYPE_CHECKING:
    import pandas as pd

    from evaluators.corpus.protocols import CorpusLike
    from evaluators.run_folder import RunFolder

Selector = Callable[[Any], bool]
AnyCorpus = TypeVar("AnyCorpus", bound="CorpusLike")


def everything(_: Any) -> bool:
    """The selector that leaves nothing out."""
    return True


def table(rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...]) -> "pd.DataFrame":
    """A pandas table that has its columns even without rows. Raises `MissingExtraError` without pandas."""
    try:
        import pandas as pd
    except ImportError:
        from convolabel.errors import MissingExtraError

        raise MissingExtraError("A summary table", "evaluators") from None
    return pd.DataFrame([dict(row) for row in rows], columns=list(columns))


class LLMEvaluator:
    """Base of the evaluators that ask a language model.

    `llm_client` is any object with `generate_json(prompt)`; without one, `get_eval_llm_client` makes one from
    `model` when it is first needed. Answers are kept in `run_folder`, when given, the moment they arrive, and are
    not asked for again; the report is written there too. `limiter` bounds the calls of all evaluators that share it,
    `n_workers` the conversations in flight. `prices` (US dollars per million tokens) come before the list prices.
    `progress(done, total)` is called after each conversation; without it a line is printed to standard error every
    `verbosity` conversations (0: never).
    """

    name: str
    """What the evaluator is called in reports and file names."""
    json_mode = False
    """Whether all replies are JSON objects, so that OpenAI can be held to that."""

    def __init__(
        self,
        llm_client: Any = None,
        *,
        model: str,
        provider: str | None,
        config_manager: Any,
        reasoning_effort: str,
        seed: int | None = None,
        n_workers: int,
        verbosity: int,
        base_url: str | None = None,
        limiter: Limiter | None = None,
        run_folder: "str | Path | RunFolder | None" = None,
        prices: Mapping[str, Price] | None = None,
        progress: Progress | None = None,
    ) -> None:
        if llm_client is not None:
            self.llm_client = llm_client
        self.model = model
        self.provider = provider
        self.config_manager = config_manager
        self.reasoning_effort = reasoning_effort
        self.seed = seed
        self.base_url = base_url
        self.limiter = limiter
        self.n_workers = n_workers
        self.verbosity = verbosity
        self.prices = prices
        self.progress = progress
        self.run_folder = as_run_folder(run_folder)
        self.report: RunReport | None = None

    @cached_property
    def llm_client(self) -> Any:
        return get_eval_llm_client(
            self.model,
            provider=self.provider,
            config_manager=self.config_manager,
            reasoning_effort=self.reasoning_effort,
            seed=self.seed,
            json_mode=self.json_mode,
            base_url=self.base_url,
            limiter=self.limiter,
        )

    def fit(self, corpus: Any, y: Any = None, selector: Selector = everything) -> Self:
        """There is nothing to fit; part of ConvoKit's interface of a transformer."""
        return self

    def is_answered(self, prompt: str) -> bool:
        """Whether the answer to `prompt` is in the run folder, so that asking costs nothing."""
        if self.run_folder is None:
            return False
        client = as_client(self.llm_client)
        return client.for_run(cache=self.run_folder.answers, usage=Usage(), stopping=Event()).has_answer(prompt)

    def _started_run(self, *, n_workers: int | None = None) -> Run:
        """A run with a new report, to be entered. Raises before the last report is gone when there is no client.

        `n_workers` is the number of conversations worked on at once, where that is not `self.n_workers`.
        """
        client = self.llm_client
        self.report = RunReport(self.name)
        return Run(
            self.report,
            client,
            cache=self.run_folder.answers if self.run_folder else None,
            usage=Usage(self.prices or {}),
            n_workers=self.n_workers if n_workers is None else n_workers,
            progress=self.progress or printed_progress(self.verbosity),
        )

    def _write_report(self) -> None:
        if self.run_folder is not None and self.report is not None:
            self.run_folder.write_report(self.report)


def as_run_folder(given: "str | Path | RunFolder | None") -> "RunFolder | None":
    """A run folder given as one, or by its path."""
    if given is None or not isinstance(given, str | Path):
        return given
    from evaluators.run_folder import RunFolder

    return RunFolder(given)


def printed_progress(verbosity: int) -> Progress:
    """A line on standard error every `verbosity` conversations; 0: never."""

    def show(done: int, total: int) -> None:
        if verbosity and (done % verbosity == 0 or done == total):
            print(f"{done} / {total} conversations", file=sys.stderr)

    return show
