"""CIG: an LLM rates every utterance of a conversation against what came before it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convolabel.llm.asking import ask_in_parts
from convolabel.llm.errors import LLMError, TooLong
from convolabel.llm.limiter import Limiter
from convolabel.llm.prices import Price
from convolabel.llm.prompts import json_line
from evaluators.cig.prompt import TEMPLATE, Line, rating_prompt
from evaluators.cig.ratings import read_ratings
from evaluators.cig.summary import COLUMNS, mean_rows
from evaluators.cig.targets import rating_targets
from evaluators.cig.windows import Window, estimated_tokens, windows_within
from evaluators.evaluator import AnyCorpus, LLMEvaluator, Selector, everything, table
from evaluators.participants import (
    MEDIATOR,
    IsMediator,
    NameOf,
    TopicOf,
    default_is_mediator,
    default_speaker_name,
    default_topic,
    display_names,
)
from evaluators.reading_order import in_reading_order
from evaluators.result_status import has_results, mark_status
from evaluators.run import Progress, Run
from evaluators.run_report import RunReport, Status

if TYPE_CHECKING:
    import pandas as pd

    from evaluators.corpus.protocols import ConversationLike, CorpusLike
    from evaluators.run_folder import RunFolder

_LATE_JOINER = "every utterance is in the opening batch, for the last speaker joins at the end"
_ONLY_FRAGMENTS = "after the opening batch there are only fragments"


@dataclass
class _Plan:
    """A conversation made ready for rating."""

    utterances: Sequence[Any]
    lines: list[Line]
    opening_end: int
    targets: list[int]
    topic: str

    @cached_property
    def sizes(self) -> list[int]:
        """Estimated tokens of each line."""
        return [estimated_tokens(json_line(line.shown(rate=True))) for line in self.lines]


@dataclass
class _Rated:
    """What a conversation's calls brought."""

    plan: _Plan
    scores: dict[int, int] = field(default_factory=dict)
    windows: list[Window] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    errors: list[LLMError] = field(default_factory=list)

    def fail(self, window: Window, error: LLMError) -> None:
        """No answer for a window."""
        self.windows.append(window)
        self.errors.append(error)
        self.reasons.append(str(error))


class CIG(LLMEvaluator):
    """Rates utterances from 1 (adds nothing) to 4 (changes the picture) into `utterance.meta[cig_attribute_name]`.

    `None` stands where nothing is rated: in the opening batch (up to the first utterance by which every speaker has
    spoken), at fragments, and where the model gave no valid rating. `conversation.meta[f"{cig_attribute_name}_status"]`
    tells how the last run went. The parameters up to `verbosity` are ConvoKit's; `custom_prompt` replaces
    `evaluators.cig.prompt.TEMPLATE` and has its placeholders. Prompts estimated longer than `max_prompt_tokens`, or
    that the model finds too long, are cut into windows. For the others see `LLMEvaluator`.
    """

    name = "cig"

    def __init__(
        self,
        llm_client: Any = None,
        model: str = "gpt-5",
        provider: str | None = None,
        config_manager: Any = None,
        reasoning_effort: str = "minimal",
        custom_prompt: str | None = None,
        cig_attribute_name: str = "cig",
        is_mediator: IsMediator = default_is_mediator,
        name_func: NameOf = default_speaker_name,
        topic_func: TopicOf = default_topic,
        n_workers: int = 1,
        verbosity: int = 10,
        *,
        seed: int | None = None,
        base_url: str | None = None,
        limiter: Limiter | None = None,
        run_folder: "str | Path | RunFolder | None" = None,
        prices: Mapping[str, Price] | None = None,
        progress: Progress | None = None,
        max_prompt_tokens: int = 100_000,
    ) -> None:
        super().__init__(
            llm_client,
            model=model,
            provider=provider,
            config_manager=config_manager,
            reasoning_effort=reasoning_effort,
            seed=seed,
            n_workers=n_workers,
            verbosity=verbosity,
            base_url=base_url,
            limiter=limiter,
            run_folder=run_folder,
            prices=prices,
            progress=progress,
        )
        self.prompt = custom_prompt or TEMPLATE
        self.cig_attribute_name = cig_attribute_name
        self.is_mediator = is_mediator
        self.name_func = name_func
        self.topic_func = topic_func
        self.max_prompt_tokens = max_prompt_tokens

    def rating_targets(self, utts: Sequence[Any]) -> tuple[list[bool], list[bool]]:
        """Two flags per utterance, in reading order: in the opening batch, and to be rated."""
        return rating_targets(utts)

    def build_prompt(self, conversation: "ConversationLike") -> tuple[str | None, list[int]]:
        """The prompt for all of a conversation, whatever its length, and the places in reading order it rates.

        `(None, [])` when there is nothing to rate.
        """
        plan = self._plan(conversation, in_reading_order(conversation).utterances)
        if not plan.targets:
            return None, []
        whole = Window(0, plan.opening_end, len(plan.lines))
        return self._prompt(plan, whole, plan.targets), plan.targets

    def prompts(self, conversation: "ConversationLike") -> list[str]:
        """What the first calls for a conversation ask, window by window: for estimates."""
        plan = self._plan(conversation, in_reading_order(conversation).utterances)
        return [self._prompt(plan, window, _within(window, plan.targets)) for window in self._first_windows(plan)]

    def transform(self, corpus: AnyCorpus, selector: Selector = everything) -> AnyCorpus:
        """Rate the conversations that `selector` takes and return the corpus; `self.report` tells what happened.

        A conversation whose calls failed keeps the ratings of an earlier run, marked as stale. Ctrl-C and errors
        that no call would survive are raised after what is done was written.
        """
        conversations = [each for each in corpus.iter_conversations() if selector(each)]
        started = self._started_run()
        try:
            with started as run:
                rated = run.conversations(conversations, lambda each: self._rate(run, each), stage="rating")
                for conversation in conversations:
                    self._write(conversation, rated.get(conversation.id), run.report)
        finally:
            self._write_report()
        return corpus

    def fit_transform(self, corpus: AnyCorpus, y: Any = None, selector: Selector = everything) -> AnyCorpus:
        return self.transform(corpus, selector)

    def summarize(
        self,
        corpus: "CorpusLike",
        selector: Selector = everything,
        speaker_selector: Callable[[Any], bool] = everything,
        min_mediator_utts: int = 2,
    ) -> "pd.DataFrame":
        """Mean ratings per conversation, of participants and of the mediator.

        Columns: conversation_id, is_mediator (False first), n_rated, cig_mean. Conversations in which the mediator
        speaks, but less than `min_mediator_utts` times, are left out.
        """
        return table(self.summary_rows(corpus, selector, speaker_selector, min_mediator_utts), COLUMNS)

    def summary_rows(
        self,
        corpus: "CorpusLike",
        selector: Selector = everything,
        speaker_selector: Callable[[Any], bool] = everything,
        min_mediator_utts: int = 2,
    ) -> list[dict[str, Any]]:
        """The rows of `summarize`, without pandas."""
        return mean_rows(
            corpus,
            {self.cig_attribute_name: "cig_mean"},
            self.is_mediator,
            selector=selector,
            speaker_selector=speaker_selector,
            min_mediator_utts=min_mediator_utts,
        )

    def _plan(self, conversation: "ConversationLike", utterances: Sequence[Any]) -> _Plan:
        names = display_names(conversation, self.is_mediator, self.name_func)
        in_opening, is_target = self.rating_targets(utterances)
        lines = [
            Line(place, names.get(each.speaker.id, MEDIATOR), each.speaker.id not in names, each.text)
            for place, each in enumerate(utterances)
        ]
        targets = [place for place, rate in enumerate(is_target) if rate]
        return _Plan(utterances, lines, sum(in_opening), targets, self.topic_func(conversation))

    def _first_windows(self, plan: _Plan) -> list[Window]:
        if not plan.targets:
            return []
        frame = estimated_tokens(self.prompt + plan.topic) + 4 * len(plan.targets)
        room = max(self.max_prompt_tokens - frame, 0)
        return windows_within(plan.sizes, plan.opening_end, len(plan.lines), plan.targets, room)

    def _prompt(self, plan: _Plan, window: Window, places: Sequence[int]) -> str:
        background, part = plan.lines[window.background : window.start], plan.lines[window.start : window.end]
        return rating_prompt(self.prompt, plan.topic, background, part, places)

    def _rate(self, run: Run, conversation: "ConversationLike") -> _Rated:
        plan = self._plan(conversation, run.in_order(conversation))
        rated = _Rated(plan)
        waiting = self._first_windows(plan)
        while waiting:
            window = waiting.pop(0)
            try:
                self._rate_window(run, rated, window)
            except TooLong as error:
                smaller = _halved(plan, window)
                if smaller == [window]:
                    rated.fail(window, error)
                else:
                    waiting[:0] = smaller
            except LLMError as error:
                if error.stops_run:
                    raise
                rated.fail(window, error)
        if rated.errors and not rated.scores:
            raise rated.errors[0]
        return rated

    def _rate_window(self, run: Run, rated: _Rated, window: Window) -> None:
        places = _within(window, rated.plan.targets)
        answer = ask_in_parts(run.client, places, partial(self._prompt, rated.plan, window), read_ratings)
        rated.windows.append(window)
        rated.scores.update(answer.parts)
        if answer.missing:
            rated.reasons.append(answer.reason)
        if answer.calls > 1:
            run.report.count("calls repeated for faulty ratings")
        for fault in answer.faults:
            run.report.count(f"faults in replies: {fault}")

    def _write(self, conversation: "ConversationLike", rated: _Rated | None, report: RunReport) -> None:
        key = self.cig_attribute_name
        if rated is None:
            self._write_without_result(conversation, report)
            return
        plan = rated.plan
        missing = [place for place in plan.targets if place not in rated.scores]
        status, details = _judged(rated, missing)
        if missing:
            reason = f"{len(missing)} of {len(plan.targets)} utterances have no rating: {'; '.join(rated.reasons)}"
            kind = rated.errors[0].kind if rated.errors else "faulty_reply"
            report.fail(conversation.id, "rating", reason, kind=kind)
        if status is Status.EMPTY:
            report.count(f"conversations with nothing to rate: {details['reason']}")
        if status is Status.FAILED and has_results(conversation, key):
            report.set_status(conversation.id, mark_status(conversation, key, status, **details))
            return
        kept: list[str] = []
        for place, utterance in enumerate(plan.utterances):
            if place in missing and utterance.meta.get(key) is not None:
                kept.append(utterance.id)
            else:
                utterance.meta[key] = rated.scores.get(place)
        if kept:
            details["of_an_earlier_run"] = kept
        report.set_status(conversation.id, mark_status(conversation, key, status, **details))

    def _write_without_result(self, conversation: "ConversationLike", report: RunReport) -> None:
        key = self.cig_attribute_name
        if not has_results(conversation, key):
            for utterance in conversation.iter_utterances():
                utterance.meta[key] = None
        reasons = [each.reason for each in report.failures if each.conversation_id == conversation.id]
        status = mark_status(conversation, key, report.statuses[conversation.id], reason="; ".join(reasons))
        report.set_status(conversation.id, status)


def _within(window: Window, targets: Sequence[int]) -> list[int]:
    return [place for place in targets if window.start <= place < window.end]


def _halved(plan: _Plan, window: Window) -> list[Window]:
    """A window that the model found too long, in parts of half its size; the same window when there is no less."""
    room = sum(plan.sizes[window.background : window.end]) // 2
    return windows_within(plan.sizes, window.start, window.end, _within(window, plan.targets), room)


def _judged(rated: _Rated, missing: Sequence[int]) -> tuple[Status, dict[str, Any]]:
    plan = rated.plan
    details: dict[str, Any] = {}
    if any(window.background > 0 for window in rated.windows) or len(rated.windows) > 1:
        details["windows"] = [list(window) for window in rated.windows]
    if not plan.targets:
        is_all_opening = plan.opening_end == len(plan.utterances)
        return Status.EMPTY, {"reason": _LATE_JOINER if is_all_opening else _ONLY_FRAGMENTS}
    if missing:
        details["without_rating"] = [plan.utterances[place].id for place in missing]
        details["reason"] = "; ".join(rated.reasons)
    if not missing:
        return Status.COMPLETE, details
    return (Status.PARTIAL if rated.scores else Status.FAILED), details
