"""The way from a transcript to a record: extraction, memory, agreement."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from evaluators.claims.agreement import (
    agreement_of,
    agreement_prompt,
    judgement,
    pairs_of,
    read_pairs,
    without_answer,
)
from evaluators.claims.arriving import Arriving
from evaluators.claims.calls import Calls
from evaluators.claims.consolidation import consolidation_prompt, decided, read_updates, unrelated
from evaluators.claims.extraction import Request, read_claims
from evaluators.claims.memory import apply_updates, held_entries, new_entry, resolved
from evaluators.claims.prompts import Prompts
from evaluators.claims.records import (
    PRE_SURVEY,
    Agreement,
    Claim,
    Decision,
    Entry,
    Judgement,
    PairAgreement,
    Record,
    Step,
    Update,
)
from evaluators.claims.retrieval import ClaimVectors, candidates
from evaluators.claims.siblings import collapsed, pairs_to_judge
from evaluators.claims.transcript import Message, Transcript
from evaluators.models.embeddings import Embedder
from evaluators.models.nli import EntailmentModel


@dataclass(frozen=True)
class Tracking:
    """How claims are tracked: a tracker's parameters and models. Safe to share between threads."""

    prompts: Prompts
    embed: Embedder
    entail: EntailmentModel
    top_k: int
    own_cap: int
    context_window: int
    sibling_entail: float
    match_convokit: bool

    def start(self, calls: Calls, transcript: Transcript) -> Arriving:
        """Ask for the claims of the messages side by side, for they do not depend on the memory."""
        requests = transcript.requests(self.prompts.extraction, self.context_window)
        return Arriving(partial(calls.start, partial(self.extract, calls)), requests)

    def record_of(self, calls: Calls, transcript: Transcript, arriving: Arriving) -> Record:
        """All but the agreement; `arriving` is what `start` returned.

        The memory is built one utterance after the other, while claims arrive. Raises `LLMError`, `Stopped`.
        """
        vectors = ClaimVectors(self.embed)
        memory: list[Entry] = []
        expect = partial(_expect, vectors)
        with closing(arriving.in_turn(self.collapse, expect)) as in_turn:
            steps = [
                self._step(calls, vectors, memory, message, place, claims)
                for message, place, claims in zip(transcript.messages, transcript.places, in_turn, strict=True)
            ]
        names = list(transcript.names.values())
        seeds = {name: step["extracted"] for name, step in zip(names, steps, strict=False)}
        return Record(
            speakers={name: ident for ident, name in transcript.names.items()},
            initial={name: self._initial(claims) for name, claims in seeds.items()},
            final={name: [entry["claim"] for entry in held_entries(memory, name)] for name in names},
            memory=memory,
            steps=steps,
        )

    def extract(self, calls: Calls, request: Request | None) -> list[Claim]:
        """The claims of one message, paraphrases included."""
        if request is None:
            return []
        read = partial(read_claims, speaker=request.speaker, turn=request.turn)
        found = calls.ask_whole("extraction", request.place, request.prompt, read)
        for oddity, number in (found.oddities if found is not None else {}).items():
            calls.count(oddity, number)
        return found.items if found is not None else []

    def collapse(self, utterances: Sequence[Sequence[Claim]]) -> list[list[Claim]]:
        """The claims of each utterance with paraphrases taken together; all are judged in one batch."""
        pairs = list(dict.fromkeys(pair for claims in utterances for pair in pairs_to_judge(claims)))
        entailment = dict(zip(pairs, self.entail(pairs), strict=True))
        return [collapsed(claims, entailment, self.sibling_entail) for claims in utterances]

    def candidates(
        self, vectors: ClaimVectors, memory: Sequence[Entry], speaker: str, new_claims: Sequence[Claim]
    ) -> list[Entry]:
        return candidates(vectors, memory, speaker, new_claims, top_k=self.top_k, own_cap=self.own_cap)

    def consolidate(
        self, calls: Calls, place: str, shown: Sequence[Entry], new_claims: Sequence[Claim]
    ) -> dict[int, Update]:
        """What the model says about each new claim, by its place; without anything shown there is nothing to ask."""
        if not shown:
            return {place: unrelated(claim) for place, claim in enumerate(new_claims)}
        prompt = partial(consolidation_prompt, self.prompts.consolidation, shown, new_claims)
        read = partial(read_updates, new_claims=new_claims, shown={entry["id"]: entry for entry in shown})
        return calls.ask_parts("consolidation", place, range(len(new_claims)), prompt, read)

    def judge(self, calls: Calls, record: Record) -> Agreement:
        """The agreement of every two participants, before and after; all of it is asked for at once."""
        pairs = pairs_of(record["initial"])
        jobs = [(stage, a, b) for a, b in pairs for stage in ("initial", "final")]

        def ask(job: tuple[str, str, str]) -> Judgement:
            stage, a, b = job
            claims: Mapping[str, list[str]] = record["initial"] if stage == "initial" else record["final"]
            return self.compare(calls, f"pair {pairs.index((a, b)) + 1}, {stage}", claims[a], claims[b], a, b)

        answers = iter(calls.side_by_side(ask, jobs))
        compared = [PairAgreement(a=a, b=b, initial=next(answers), final=next(answers)) for a, b in pairs]
        return agreement_of(compared, match_convokit=self.match_convokit)

    def compare(
        self, calls: Calls, place: str, claims_a: Sequence[str], claims_b: Sequence[str], name_a: str, name_b: str
    ) -> Judgement:
        """The agreement of two lists; without claims in both there is nothing to ask."""
        lengths = len(claims_a), len(claims_b)
        if not all(lengths):
            return judgement([], *lengths)
        prompt = agreement_prompt(self.prompts.agreement, claims_a, claims_b, name_a, name_b)
        found = calls.ask_whole("agreement", place, prompt, lambda reply: read_pairs(reply, *lengths))
        return without_answer() if found is None else judgement(found.items, *lengths)

    def _step(
        self,
        calls: Calls,
        vectors: ClaimVectors,
        memory: list[Entry],
        message: Message,
        place: str,
        claims: list[Claim],
    ) -> Step:
        step = Step(
            turn=str(message.turn), speaker=message.speaker, extracted=claims, shown=[], updates=[], decisions=[]
        )
        if message.turn == PRE_SURVEY:
            for claim in claims:
                memory.append(new_entry(memory, claim, PRE_SURVEY))
            step["decisions"] = [Decision(op="SEED") for _ in claims]
        elif claims:
            shown = self.candidates(vectors, memory, message.speaker, claims)
            updates = self.consolidate(calls, place, shown, claims)
            decisions = decided(updates, {entry["id"]: entry for entry in shown}, claims, message.speaker)
            step["shown"] = [entry["id"] for entry in shown]
            step["updates"] = [updates[new] for new in sorted(updates)]
            step["decisions"] = resolved(memory, decisions)
            apply_updates(memory, decisions, claims, message.turn)
        problems = [f"{each.stage}: {each.reason}" for each in sorted(calls.problems) if each.place == place]
        if problems:
            step["problems"] = problems
        return step

    def _initial(self, seeds: Sequence[Claim]) -> list[str]:
        return [claim["claim"] for claim in seeds if self.match_convokit or claim["kind"] == "own"]


def _expect(vectors: ClaimVectors, claims: Sequence[Claim]) -> None:
    vectors.expect(claim["claim"] for claim in claims)
