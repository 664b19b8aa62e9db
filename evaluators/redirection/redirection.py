"""MediatorRedirection: did a mediator's turn change what was said next?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from convolabel.errors import InputError
from convolabel.llm.cache import answer_key
from convolabel.llm.completion import Completion
from convolabel.llm.errors import Stopped
from evaluators.evaluator import AnyCorpus, Selector, as_run_folder, everything, printed_progress, table
from evaluators.models.causal_lm import HFLikelihoodModel
from evaluators.models.reply_likelihood import BLANK_LINE, Comparison, LikelihoodModel, ReplyLikelihood
from evaluators.participants import IsMediator, NameOf, default_is_mediator, default_speaker_name, display_names
from evaluators.redirection.contexts import (
    MEDIATOR_LABEL,
    ROLE_ATTRIBUTE_NAME,
    checked_counterfactual,
    comparisons,
    line_of,
    on_one_line,
)
from evaluators.redirection.likelihood_models import as_likelihood_model
from evaluators.redirection.log_odds import log_odds_difference
from evaluators.result_status import mark_status
from evaluators.run import Progress, Run
from evaluators.run_report import RunReport, Status

if TYPE_CHECKING:
    import pandas as pd

    from evaluators.corpus.protocols import ConversationLike, CorpusLike
    from evaluators.run_folder import RunFolder

COLUMNS = ("conversation_id", "n_scored", "redirection_mean")
NORMALIZATIONS = ("sum", "token")


@dataclass(frozen=True)
class ScoredTurn:
    """`summed` is the difference of log-odds, `per_token` that by the number of the reply's tokens."""

    summed: float
    per_token: float | None
    likelihood: ReplyLikelihood

    @classmethod
    def of(cls, likelihood: ReplyLikelihood) -> "ScoredTurn":
        summed = log_odds_difference(likelihood.actual, likelihood.reference)
        tokens = likelihood.reply_tokens
        return cls(summed, None if tokens is None else summed / tokens, likelihood)

    def as_dict(self) -> dict[str, Any]:
        """JSON values: what `conversation.meta` keeps of a turn."""
        return {
            "summed": self.summed,
            "per_token": self.per_token,
            "reply_tokens": self.likelihood.reply_tokens,
            "actual_log_probability": self.likelihood.actual,
            "reference_log_probability": self.likelihood.reference,
            "context_tokens_cut": self.likelihood.context_tokens_cut,
            "reply_tokens_cut": self.likelihood.reply_tokens_cut,
        }


class MediatorRedirection:
    """Scores mediator turns into `utterance.meta[redirection_attribute_name]`.

    The score is the difference of the log-odds of the reply after the turn and after the mediator's previous turn in
    its place ("prev"), or after none ("delete"): positive when the turn made the reply more expected. A turn is
    scored when the turn before it is not a mediator's, a participant spoke before, the next turn is a participant's
    and has text, and, for "prev", the mediator spoke before. `normalize="sum"` stores the score of the whole reply,
    as ConvoKit does, which grows with its length; "token" stores it divided by the number of the reply's tokens.
    `conversation.meta[redirection_attribute_name]` has both by utterance id, with log-probabilities and what did not
    fit the model's window; `conversation.meta[f"{redirection_attribute_name}_status"]` tells how the last run went.

    `likelihood_model` is an `HFLikelihoodModel` (by default of `google/gemma-2b`, loaded when it is first needed), or
    anything with its `identity`, `batches` and `compare`, or one of ConvoKit's likelihood models. Likelihoods are kept
    in `run_folder`, when given, the moment they are known, and are not computed again, unless the model has no
    `identity`. `progress(done, total)` is called after each conversation instead of printing.

    Source: Nguyen et al. 2024, "Taking a turn for the better: Conversation redirection throughout the course of
    mental-health therapy", https://aclanthology.org/2024.findings-emnlp.555/
    """

    name = "redirection"

    def __init__(
        self,
        likelihood_model: Any = None,
        counterfactual: str = "prev",
        is_mediator: IsMediator = default_is_mediator,
        name_func: NameOf = default_speaker_name,
        redirection_attribute_name: str = "redirection",
        *,
        normalize: str = "sum",
        run_folder: "str | Path | RunFolder | None" = None,
        progress: Progress | None = None,
    ) -> None:
        if normalize not in NORMALIZATIONS:
            raise InputError(f"normalize is one of {', '.join(NORMALIZATIONS)}; found {normalize!r}.")
        if likelihood_model is not None:
            self.likelihood_model = likelihood_model
        self.counterfactual = checked_counterfactual(counterfactual)
        self.is_mediator = is_mediator
        self.name_func = name_func
        self.redirection_attribute_name = redirection_attribute_name
        self.normalize = normalize
        self.run_folder = as_run_folder(run_folder)
        self.progress = progress
        self.report: RunReport | None = None

    @cached_property
    def likelihood_model(self) -> Any:
        return HFLikelihoodModel()

    def label_roles(self, corpus: "CorpusLike", selector: Selector = everything) -> None:
        """Write `meta["redirection_role"]` of the utterances: "mediator", or the name of the participant.

        Names are distinct, and one that is "mediator" gets " (participant)".
        """
        for conversation in corpus.iter_conversations():
            if selector(conversation):
                self._label(conversation)

    def comparisons(self, conversation: "ConversationLike") -> dict[str, Comparison]:
        """What is asked of the model, by the id of the mediator's utterance. Writes the roles."""
        return self._comparisons(conversation, Run(RunReport(self.name)).in_order(conversation))

    def fit(
        self,
        corpus: "CorpusLike",
        y: Any = None,
        train_selector: Selector = everything,
        val_selector: Selector | None = None,
    ) -> Self:
        """Fine-tune the likelihood model on whole conversations in the format in which they are scored.

        With `val_selector` the epoch that is best on its conversations is kept; ConvoKit's default, to validate on
        what was learned, is not ours. Raises `MissingExtraError` without peft.
        """
        learn = self._texts(corpus, train_selector)
        check = None if val_selector is None else self._texts(corpus, val_selector)
        self.likelihood_model.fit(train_data=learn, val_data=check)
        return self

    def transform(self, corpus: AnyCorpus, selector: Selector = everything, verbosity: int = 5) -> AnyCorpus:
        """Score the conversations that `selector` takes and return the corpus; `self.report` tells what happened.

        A line is printed to standard error every `verbosity` conversations (0: never). A conversation that failed
        keeps the scores of an earlier run, marked as stale; all others lose them. Ctrl-C is raised after what is done
        was written.
        """
        model = as_likelihood_model(self.likelihood_model)
        # a model that cannot be loaded is an error of the run, not of its first conversation
        identity = model.identity
        conversations = [each for each in corpus.iter_conversations() if selector(each)]
        self.report = RunReport(self.name)
        if self.run_folder is not None and identity is None:
            self.report.note("The likelihood model has no identity, so nothing is kept for the next run.")
        try:
            with Run(self.report, progress=self.progress or printed_progress(verbosity)) as run:
                scored = run.conversations(
                    conversations, lambda each: self._score(run, model, identity, each), stage="scoring"
                )
                for conversation in conversations:
                    self._write(conversation, scored.get(conversation.id), run.report)
        finally:
            if self.run_folder is not None:
                self.run_folder.write_report(self.report)
        return corpus

    def fit_transform(self, corpus: AnyCorpus, y: Any = None, selector: Selector = everything) -> AnyCorpus:
        return self.fit(corpus, y, train_selector=selector).transform(corpus, selector)

    def summarize(self, corpus: "CorpusLike", selector: Selector = everything) -> "pd.DataFrame":
        """Mean scores per conversation that has any. Columns: conversation_id, n_scored, redirection_mean."""
        return table(self.summary_rows(corpus, selector), COLUMNS)

    def summary_rows(self, corpus: "CorpusLike", selector: Selector = everything) -> list[dict[str, Any]]:
        """The rows of `summarize`, without pandas."""
        rows = []
        for conversation in corpus.iter_conversations():
            if not selector(conversation):
                continue
            found = (each.meta.get(self.redirection_attribute_name) for each in conversation.iter_utterances())
            scores = [score for score in found if score is not None]
            if scores:
                mean = sum(scores) / len(scores)
                rows.append(dict(zip(COLUMNS, (conversation.id, len(scores), mean), strict=True)))
        return rows

    def _label(self, conversation: "ConversationLike") -> None:
        names = display_names(conversation, self.is_mediator, self._name, MEDIATOR_LABEL)
        for utterance in conversation.iter_utterances():
            utterance.meta[ROLE_ATTRIBUTE_NAME] = names.get(utterance.speaker.id, MEDIATOR_LABEL)

    def _name(self, conversation: "ConversationLike", speaker: Any) -> str:
        return on_one_line(str(self.name_func(conversation, speaker)))

    def _comparisons(self, conversation: "ConversationLike", utterances: Sequence[Any]) -> dict[str, Comparison]:
        self._label(conversation)
        return comparisons(utterances, self.counterfactual)

    def _texts(self, corpus: "CorpusLike", selector: Selector) -> list[dict[str, str]]:
        self.label_roles(corpus, selector)
        order = Run(RunReport(self.name)).in_order
        return [
            {"text": BLANK_LINE.join(line_of(each) for each in order(conversation))}
            for conversation in corpus.iter_conversations()
            if selector(conversation)
        ]

    def _score(
        self, run: Run, model: LikelihoodModel, identity: str | None, conversation: "ConversationLike"
    ) -> dict[str, ScoredTurn]:
        asked = self._comparisons(conversation, run.in_order(conversation))
        ids, given = list(asked), list(asked.values())
        found: dict[str, ScoredTurn] = {}
        for batch in model.batches(given):
            if run.stopping.is_set():
                raise Stopped
            likelihoods = self._likelihoods(model, identity, [given[place] for place in batch], run.report)
            found |= {ids[place]: ScoredTurn.of(each) for place, each in zip(batch, likelihoods, strict=True)}
        if self.normalize == "token" and any(each.per_token is None for each in found.values()):
            raise InputError("This likelihood model tells no number of tokens; score with normalize='sum'.")
        return {ident: found[ident] for ident in ids}

    def _likelihoods(
        self, model: LikelihoodModel, identity: str | None, batch: Sequence[Comparison], report: RunReport
    ) -> list[ReplyLikelihood]:
        """A batch is computed or taken from the store as a whole: what it is scored with decides the last digits."""
        if self.run_folder is None or identity is None:
            return model.compare(batch)
        keys = [answer_key(identity, {"batch": len(batch)}, json.dumps(asdict(each))) for each in batch]
        stored = [self.run_folder.answers.get(key) for key in keys]
        texts = [each.text for each in stored if each is not None]
        if len(texts) == len(batch):
            report.count("turns taken from the store", len(batch))
            return [ReplyLikelihood(**json.loads(text)) for text in texts]
        likelihoods = model.compare(batch)
        for key, likelihood in zip(keys, likelihoods, strict=True):
            self.run_folder.answers.put(key, identity, Completion(json.dumps(asdict(likelihood))))
        return likelihoods

    def _write(
        self, conversation: "ConversationLike", scored: Mapping[str, ScoredTurn] | None, report: RunReport
    ) -> None:
        key = self.redirection_attribute_name
        if scored is None:
            reasons = [each.reason for each in report.failures if each.conversation_id == conversation.id]
            status = report.statuses[conversation.id]
            report.set_status(conversation.id, mark_status(conversation, key, status, reason="; ".join(reasons)))
            return
        good = {ident: turn for ident, turn in scored.items() if isfinite(turn.summed)}
        excluded = [ident for ident in scored if ident not in good]
        status = _status(scored, good)
        if excluded:
            report.count("mediator turns left out, for their score is not finite", len(excluded))
            reason = f"{len(excluded)} of {len(scored)} mediator turns have a score that is not finite"
            report.fail(conversation.id, "scoring", reason, kind="not_finite")
        if status is not Status.FAILED:
            self._replace(conversation, good)
        _count_cuts(good.values(), report)
        details = {"counterfactual": self.counterfactual, "normalize": self.normalize, "not_finite": excluded}
        report.set_status(conversation.id, mark_status(conversation, key, status, **details))

    def _replace(self, conversation: "ConversationLike", good: Mapping[str, ScoredTurn]) -> None:
        key = self.redirection_attribute_name
        for utterance in conversation.iter_utterances():
            turn = good.get(utterance.id)
            if turn is not None:
                utterance.meta[key] = turn.summed if self.normalize == "sum" else turn.per_token
            elif key in utterance.meta:
                del utterance.meta[key]
        conversation.meta[key] = {ident: turn.as_dict() for ident, turn in good.items()}


def _status(scored: Mapping[str, ScoredTurn], good: Mapping[str, ScoredTurn]) -> Status:
    if not scored:
        return Status.EMPTY
    if not good:
        return Status.FAILED
    return Status.COMPLETE if len(good) == len(scored) else Status.PARTIAL


def _count_cuts(turns: Any, report: RunReport) -> None:
    for what in ("context", "reply"):
        cut = sum(getattr(turn.likelihood, f"{what}_tokens_cut") > 0 for turn in turns)
        if cut:
            report.count(f"turns whose {what} was cut to the model's window", cut)
