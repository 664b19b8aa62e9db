"""ClaimTracker: what every speaker claims, how that changes, and how far participants come to share it."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Event, Semaphore
from typing import TYPE_CHECKING, Any

from convolabel.errors import InputError
from convolabel.llm.adapters import as_client
from convolabel.llm.limiter import Limiter
from convolabel.llm.prices import Price
from convolabel.llm.prompts import json_line
from evaluators.claims import memory, origin
from evaluators.claims.calls import Calls
from evaluators.claims.consolidation import decided, placed, repair_update
from evaluators.claims.extraction import Request, extraction_prompt, message
from evaluators.claims.prompts import prompts_with
from evaluators.claims.records import Agreement, Claim, Decision, Entry, Judgement, Record, Update
from evaluators.claims.retrieval import ClaimVectors
from evaluators.claims.summary import COLUMNS, participant_info, summary_rows_of
from evaluators.claims.tracking import Tracking
from evaluators.claims.transcript import Transcript, transcript_of
from evaluators.corpus.protocols import write_speaker_info
from evaluators.evaluator import AnyCorpus, LLMEvaluator, Selector, everything, table
from evaluators.models.embeddings import DEFAULT_EMBEDDING_MODEL, Embedder
from evaluators.models.nli import DEFAULT_NLI_MODEL, EntailmentModel
from evaluators.participants import (
    IsMediator,
    NameOf,
    SeedText,
    TopicOf,
    default_is_mediator,
    default_speaker_name,
    default_topic,
    pre_survey_text,
)
from evaluators.reading_order import in_reading_order
from evaluators.result_status import has_results, mark_status, status_key
from evaluators.run import Progress, Run
from evaluators.run_report import RunReport, Status

if TYPE_CHECKING:
    import pandas as pd

    from evaluators.corpus.protocols import ConversationLike, CorpusLike
    from evaluators.run_folder import RunFolder


class ClaimTracker(LLMEvaluator):
    """Follows the claims of every speaker through a conversation, and measures the common ground of participants.

    A language model takes the claims out of each utterance and says how each relates to the claims in memory; that
    decides, by fixed rules, whether it is added, restates or refines an older one, or supersedes it. At the end the
    model judges which claims participants agree on, before the conversation (from their pre-survey texts) and after.

    `conversation.meta[claims_attribute_name]` receives a `Record`, `...[f"{claims_attribute_name}_status"]` how the
    run went, and, per participant and conversation, `claims_initial`, `claims_final`, `claims_share_from_mediator`,
    `claims_share_from_partner` and `claims_share_new_common_ground` are stored where `get_speaker_convo_info` finds
    them.

    The parameters up to `verbosity` are ConvoKit's. `embedder` has `encode(texts, normalize_embeddings=True)`, `nli`
    has `predict(pairs, apply_softmax=True)`; without them the models named are loaded when first needed, on `device`
    (default: the best there is). `custom_prompts` replaces prompts by name: extraction, consolidation, agreement.
    `match_convokit` counts as ConvoKit does where this class differs by intent: initial claims of every kind, a gain
    made of means over different pairs, and the reports of participants as claims of their own. For the other
    parameters see `LLMEvaluator`.

    Raises `InputError` for parameters out of range.
    """

    name = "claims"
    json_mode = True

    new_entry = staticmethod(memory.new_entry)
    active = staticmethod(memory.active)
    held_entries = staticmethod(memory.held_entries)
    apply_updates = staticmethod(memory.apply_updates)
    repair_update = staticmethod(repair_update)
    origin_of: Callable[..., origin.Origin] = staticmethod(origin.origin_of)

    def __init__(
        self,
        llm_client: Any = None,
        model: str = "gpt-5-mini",
        provider: str | None = None,
        config_manager: Any = None,
        reasoning_effort: str = "minimal",
        seed: int | None = 0,
        embedder: Any = None,
        embedding_model: str = DEFAULT_EMBEDDING_MODEL,
        nli: Any = None,
        nli_model: str = DEFAULT_NLI_MODEL,
        device: str | None = None,
        top_k: int = 5,
        own_cap: int = 40,
        context_window: int = 3,
        sibling_entail: float = 0.5,
        is_mediator: IsMediator = default_is_mediator,
        name_func: NameOf = default_speaker_name,
        topic_func: TopicOf = default_topic,
        seed_text_func: SeedText | None = pre_survey_text,
        custom_prompts: Mapping[str, str] | None = None,
        claims_attribute_name: str = "claims",
        n_workers: int = 1,
        verbosity: int = 10,
        *,
        base_url: str | None = None,
        limiter: Limiter | None = None,
        run_folder: "str | Path | RunFolder | None" = None,
        prices: Mapping[str, Price] | None = None,
        progress: Progress | None = None,
        match_convokit: bool = False,
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
        _check_at_least(0, top_k=top_k, context_window=context_window)
        _check_at_least(1, own_cap=own_cap)
        self.is_mediator = is_mediator
        self.name_func = name_func
        self.topic_func = topic_func
        self.seed_text_func = seed_text_func
        self.claims_attribute_name = claims_attribute_name
        self.match_convokit = match_convokit
        self.tracking = Tracking(
            prompts=prompts_with(custom_prompts),
            embed=Embedder(embedder, name=embedding_model, device=device),
            entail=EntailmentModel(nli, name=nli_model, device=device),
            top_k=top_k,
            own_cap=own_cap,
            context_window=context_window,
            sibling_entail=sibling_entail,
            match_convokit=match_convokit,
        )
        if match_convokit:
            self.origin_of = partial(origin.origin_of, match_convokit=True)

    def extract_claims(self, context: str, target: str, speaker: str, turn: int | str) -> list[Claim]:
        """The claims of one message, paraphrases taken together.

        `context` is what was said before, or the topic, `target` the message, both as text; `turn` is its place in
        the conversation or `"pre-survey"`. Raises `LLMError`.
        """
        prompt = extraction_prompt(self.tracking.prompts.extraction, json_line(context), message(turn, speaker, target))
        calls = self._own_calls()
        claims = self.tracking.extract(calls, Request(turn, speaker, prompt, f"turn {turn}"))
        _warn_of(calls)
        return self.collapse_siblings(claims)

    def collapse_siblings(self, claims: Sequence[Claim]) -> list[Claim]:
        """The claims of one utterance, with those that say the same as the first of them in its `siblings`."""
        return self.tracking.collapse([claims])[0]

    def claim_vectors(self) -> ClaimVectors:
        """An empty index for `retrieve_candidates`; it embeds what it is asked for."""
        return ClaimVectors(self.tracking.embed)

    def retrieve_candidates(
        self, index: ClaimVectors, memory: Sequence[Entry], speaker: str, new_claims: Sequence[Claim]
    ) -> list[Entry]:
        """The entries of `memory` that new claims of `speaker` are compared with; see `retrieval.candidates`."""
        return self.tracking.candidates(index, memory, speaker, new_claims)

    def consolidate(self, shown: Sequence[Entry], new_claims: Sequence[Claim]) -> list[Update]:
        """How each new claim relates to one of the entries shown; a claim without a valid answer has no update.

        Raises `LLMError`.
        """
        calls = self._own_calls()
        updates = self.tracking.consolidate(calls, "one utterance", shown, new_claims)
        _warn_of(calls)
        return [updates[place] for place in sorted(updates)]

    @staticmethod
    def decide(
        updates: Sequence[Any], shown: Mapping[str, Entry], new_claims: Sequence[Claim], speaker: str
    ) -> list[Decision]:
        """One operation per new claim; an update belongs to the new claim that its `source["claim"]` quotes."""
        return decided(placed(updates, new_claims), shown, new_claims, speaker)

    def track(self, conversation: "ConversationLike") -> Record:
        """The record of one conversation without the agreement. Raises `LLMError`."""
        calls = self._own_calls()
        transcript = self.transcript(conversation)
        record = self.tracking.record_of(calls, transcript, self.tracking.start(calls, transcript))
        _warn_of(calls)
        return record

    def claim_agreement(self, claims_a: Sequence[str], claims_b: Sequence[str], name_a: str, name_b: str) -> Judgement:
        """Which claims of two lists agree with or contradict each other. Raises `LLMError`."""
        calls = self._own_calls()
        judged = self.tracking.compare(calls, "two lists", claims_a, claims_b, name_a, name_b)
        _warn_of(calls)
        return judged

    def judge_agreement(self, record: Record) -> Agreement:
        """The agreement of every two participants of a record, before and after. Raises `LLMError`."""
        calls = self._own_calls()
        agreement = self.tracking.judge(calls, record)
        _warn_of(calls)
        return agreement

    def source_shares(self, record: Record) -> dict[str, dict[str, Any]]:
        """Participant -> how many claims held at the end came from the mediator, or from a partner."""
        return origin.source_shares(record, match_convokit=self.match_convokit)

    def common_ground_shares(self, record: Record, agreement: Agreement) -> dict[str, dict[str, Any]]:
        """Participant -> how many claims became shared, and the share of these that came from the mediator."""
        return origin.common_ground_shares(record, agreement, match_convokit=self.match_convokit)

    def transcript(self, conversation: "ConversationLike", ordered: Sequence[Any] | None = None) -> Transcript:
        """The conversation as it is tracked; `ordered` are its utterances in reading order, when known."""
        return transcript_of(
            conversation,
            in_reading_order(conversation).utterances if ordered is None else ordered,
            self.is_mediator,
            self.name_func,
            self.topic_func,
            self.seed_text_func,
        )

    def transform(self, corpus: AnyCorpus, selector: Selector = everything) -> AnyCorpus:
        """Track the conversations that `selector` takes and return the corpus; `self.report` tells what happened.

        A conversation that fails keeps the record of an earlier run, marked as stale. Ctrl-C and errors that no call
        would survive are raised after what is done was written.
        """
        conversations = [each for each in corpus.iter_conversations() if selector(each)]
        # the first claims of a conversation are asked for, and the last agreement judged, while others are built
        started = self._started_run(n_workers=2 * self.n_workers)
        building = Semaphore(self.n_workers)
        try:
            with started as run:
                tracked = run.conversations(
                    conversations, lambda each: self._tracked(run, building, each), stage="tracking"
                )
                info: dict[str, dict[str, dict[str, Any]]] = {}
                for conversation in conversations:
                    written = self._write(conversation, tracked.get(conversation.id), run.report)
                    for speaker, values in written.items():
                        info.setdefault(speaker, {})[conversation.id] = values
                write_speaker_info(corpus, info)
        finally:
            self._write_report()
        return corpus

    def fit_transform(self, corpus: AnyCorpus, y: Any = None, selector: Selector = everything) -> AnyCorpus:
        return self.transform(corpus, selector)

    def summarize(self, corpus: "CorpusLike", selector: Selector = everything) -> "pd.DataFrame":
        """One row per participant and conversation.

        Columns: conversation_id, speaker (id), n_initial, n_final, agreement_gain (the conversation's),
        share_from_mediator, share_from_partner, share_new_common_ground.
        """
        return table(self.summary_rows(corpus, selector), COLUMNS)

    def summary_rows(self, corpus: "CorpusLike", selector: Selector = everything) -> list[dict[str, Any]]:
        """The rows of `summarize`, without pandas."""
        rows: list[dict[str, Any]] = []
        for conversation in corpus.iter_conversations():
            record = conversation.meta.get(self.claims_attribute_name) if selector(conversation) else None
            if record:
                rows += summary_rows_of(conversation.id, record, match_convokit=self.match_convokit)
        return rows

    def _own_calls(self) -> Calls:
        """For calls outside a run, one after the other."""
        cache = self.run_folder.answers if self.run_folder is not None else None
        client = as_client(self.llm_client)
        return Calls(client.for_run(cache=cache, usage=client.usage, stopping=Event()))

    def _tracked(self, run: Run, building: Semaphore, conversation: "ConversationLike") -> tuple[Record, Calls]:
        calls = Calls(run.client, start=run.start_calls, count=run.report.count, keeps_going=True)
        transcript = self.transcript(conversation, run.in_order(conversation))
        arriving = self.tracking.start(calls, transcript)
        with building:
            record = self.tracking.record_of(calls, transcript, arriving)
        record["agreement"] = self.tracking.judge(calls, record)
        return record, calls

    def _write(
        self, conversation: "ConversationLike", tracked: tuple[Record, Calls] | None, report: RunReport
    ) -> dict[str, dict[str, Any]]:
        """Returns what is to be stored about each speaker."""
        key = self.claims_attribute_name
        if tracked is None:
            reasons = [each.reason for each in report.failures if each.conversation_id == conversation.id]
            status = mark_status(conversation, key, report.statuses[conversation.id], reason="; ".join(reasons))
            report.set_status(conversation.id, status)
            return {}
        record, calls = tracked
        problems = sorted(calls.problems)
        for problem in problems:
            report.fail(conversation.id, f"{problem.stage}, {problem.place}", problem.reason, kind=problem.kind)
        details = {"problems": [str(problem) for problem in problems]} if problems else {}
        if problems and _is_complete(conversation, key):
            # marked as stale: a record with gaps does not replace one without
            report.set_status(conversation.id, mark_status(conversation, key, Status.FAILED, **details))
            return {}
        conversation.meta[key] = record
        report.set_status(conversation.id, mark_status(conversation, key, _status(record, problems), **details))
        return participant_info(record, match_convokit=self.match_convokit)


def _status(record: Record, problems: Sequence[Any]) -> Status:
    if problems:
        return Status.PARTIAL
    return Status.COMPLETE if record["steps"] else Status.EMPTY


def _is_complete(conversation: "ConversationLike", attribute: str) -> bool:
    """Whether an earlier run left a record without gaps."""
    known = conversation.meta.get(status_key(attribute)) or {}
    return has_results(conversation, attribute) and known.get("status") != Status.PARTIAL


def _warn_of(calls: Calls) -> None:
    if calls.problems:
        warnings.warn("; ".join(map(str, sorted(calls.problems))), stacklevel=3)


def _check_at_least(least: int, **values: int) -> None:
    for name, value in values.items():
        if value < least:
            raise InputError(f"{name} must be at least {least}; found {value}.")
