"""What the tracker remembers and returns: plain dictionaries of JSON values, with ConvoKit's keys."""

from typing import Any, NotRequired, TypedDict

PRE_SURVEY = "pre-survey"
"""The turn of what was written before the conversation; the other turns are positions in reading order."""


class Claim(TypedDict):
    """One claim of one utterance. `siblings` are texts of paraphrases in the same utterance."""

    speaker: str
    target_speaker: str
    claim: str
    kind: str
    about: str | None
    turn_id: str
    siblings: list[str]


class Entry(TypedDict):
    """One claim in memory, with all that happened to it."""

    id: str
    speaker: str
    role: str
    target_speaker: str | None
    claim: str
    kind: str
    about: str | None
    first_turn: str
    last_turn: str
    status: str
    history: list[dict[str, Any]]
    restated: list[dict[str, Any]]
    links: list[dict[str, Any]]
    supersedes: str | None
    superseded_by: str | None
    retracted_at: str | None


class Update(TypedDict):
    """What the model said about one new claim: its relation to one of the entries shown to it."""

    logical_relation: str
    source: dict[str, str]
    target: dict[str, str] | None
    merged_claim: str | None
    supersedes: bool | None


class Decision(TypedDict):
    """What is done with one new claim.

    `instead_of` is the operation that was decided on first, where the memory no longer allowed it.
    """

    op: str
    relation: NotRequired[str]
    target: NotRequired[str | None]
    text: NotRequired[str | None]
    instead_of: NotRequired[str]


class Step(TypedDict):
    """One utterance or pre-survey text. `problems` is there only when something about it could not be done."""

    turn: str
    speaker: str
    extracted: list[Claim]
    shown: list[str]
    updates: list[Update]
    decisions: list[Decision]
    problems: NotRequired[list[str]]


class Judgement(TypedDict):
    """The judged pairs of two lists of claims; `agree` and `contradiction` are shares, `None` where undefined.

    `failed` is there, and true, when the model gave no answer.
    """

    pairs: list[dict[str, Any]]
    agree: float | None
    contradiction: float | None
    failed: NotRequired[bool]


class PairAgreement(TypedDict):
    """Two participants by name, before and after the conversation."""

    a: str
    b: str
    initial: Judgement
    final: Judgement


class Agreement(TypedDict):
    """Of a conversation. `gain` rests on `n_pairs` pairs."""

    pairs: list[PairAgreement]
    initial: float | None
    final: float | None
    gain: float | None
    contradiction_initial: float | None
    contradiction_final: float | None
    n_pairs: int


class Record(TypedDict):
    """All about one conversation. `speakers` maps participants' names to speaker ids."""

    speakers: dict[str, str]
    initial: dict[str, list[str]]
    final: dict[str, list[str]]
    memory: list[Entry]
    steps: list[Step]
    agreement: NotRequired[Agreement]
