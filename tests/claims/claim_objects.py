"""Claims and memories for tests, in one line each."""

from evaluators.claims.memory import new_entry
from evaluators.claims.records import PRE_SURVEY, Claim, Entry


def claim(
    text: str, speaker: str = "Ann", kind: str = "own", about: str | None = None, siblings: tuple[str, ...] = ()
) -> Claim:
    return Claim(
        speaker=speaker,
        target_speaker="Everyone",
        claim=text,
        kind=kind,
        about=about,
        turn_id="0",
        siblings=list(siblings),
    )


def memory_of(*claims: Claim, turn: int | str = PRE_SURVEY) -> list[Entry]:
    memory: list[Entry] = []
    for each in claims:
        memory.append(new_entry(memory, each, turn))
    return memory


def link(entry: Entry, relation: str, to: Entry) -> None:
    entry["links"].append({"turn": entry["first_turn"], "relation": relation, "to": to["id"], "speaker": to["speaker"]})


def by_id(memory: list[Entry]) -> dict[str, Entry]:
    return {entry["id"]: entry for entry in memory}
