"""MediatorRedirection beside ConvoKit 5.0: equal where ConvoKit is right, worked out by hand where it is not."""

import math

import pytest

from evaluators import MediatorRedirection
from evaluators.models.causal_lm import HFLikelihoodModel
from evaluators.models.reply_likelihood import Comparison
from evaluators.run_report import Status
from tests.redirection.plain_likelihood import (
    TINY_LM,
    ConvoKitsWay,
    ReferenceLikelihood,
    SharedWords,
    plain_log_probability,
    tiny_model,
    tiny_tokenizer,
)
from tests.reference_corpora import reference

EQUAL = ["c01_basic3", "c02_solo", "c03_silent_mediator", "c06_named_mediator", "c08_empties"]
EQUAL_BUT_FOR_NAMES_OR_ORDER = ["c10_odd_cig", "c11_odd_claims", "c14_partial_seed"]
"""What is odd about these concerns other evaluators."""


@pytest.fixture(scope="module")
def tiny() -> HFLikelihoodModel:
    return HFLikelihoodModel(TINY_LM, device="cpu")


@pytest.fixture(scope="module")
def convokits() -> ConvoKitsWay:
    return ConvoKitsWay()


def logit(log_probability: float) -> float:
    return log_probability - math.log1p(-math.exp(log_probability))


@pytest.mark.parametrize("counterfactual", ["prev", "delete"])
@pytest.mark.parametrize("name", EQUAL + EQUAL_BUT_FOR_NAMES_OR_ORDER)
def test_roles_contexts_and_turns_are_convokits(name: str, counterfactual: str) -> None:
    given = reference(name)
    scorer = MediatorRedirection(SharedWords(), counterfactual)
    for ident, expected in given.expected["conversations"].items():
        conversation = given.corpus.get_conversation(ident)
        assert scorer.comparisons(conversation) == {
            turn: Comparison(tuple(each["actual"]), tuple(each["reference"]), tuple(each["future"]))
            for turn, each in expected["redirection"][counterfactual]["scored"].items()
        }
        roles = {each.id: each.meta["redirection_role"] for each in conversation.iter_utterances()}
        assert roles == expected["redirection"]["roles"]


@pytest.mark.parametrize("counterfactual", ["prev", "delete"])
@pytest.mark.parametrize("name", [*EQUAL, *EQUAL_BUT_FOR_NAMES_OR_ORDER, "c05_dup_names", "c16_long"])
def test_with_convokits_likelihoods_the_scores_are_convokits(
    name: str, counterfactual: str, convokits: ConvoKitsWay
) -> None:
    """The log-probabilities are float32 sums, hence the tolerance. What is wrong about them (c16: 0.0 for a reply
    whose whole context was cut away) is in the likelihoods, which are another class's."""
    given = reference(name)
    MediatorRedirection(convokits, counterfactual).transform(given.corpus, verbosity=0)
    for ident, expected in given.expected["conversations"].items():
        conversation = given.corpus.get_conversation(ident)
        scored = expected["redirection"][counterfactual]["scored"]
        found = {each.id: each.meta.get("redirection") for each in conversation.iter_utterances()}
        assert {turn for turn, score in found.items() if score is not None} == set(scored)
        for turn, each in scored.items():
            assert found[turn] == pytest.approx(each["tiny"], abs=1e-3)
            kept = conversation.meta["redirection"][turn]
            assert [kept["actual_log_probability"], kept["reference_log_probability"]] == pytest.approx(
                each["tiny_logp"], abs=1e-3
            )


@pytest.mark.parametrize("counterfactual", ["prev", "delete"])
@pytest.mark.parametrize("name", [*EQUAL, *EQUAL_BUT_FOR_NAMES_OR_ORDER, "c05_dup_names", "c16_long"])
def test_our_likelihoods_are_the_reference_definition(name: str, counterfactual: str, tiny: HFLikelihoodModel) -> None:
    """One BOS, context, blank line, reply. ConvoKit's own (`tiny`) put a second BOS before the reply, score it too,
    leave the blank line out and cut at 512 tokens; the test above has them."""
    given = reference(name)
    MediatorRedirection(tiny, counterfactual).transform(given.corpus, verbosity=0)
    for ident, expected in given.expected["conversations"].items():
        conversation = given.corpus.get_conversation(ident)
        kept = conversation.meta["redirection"]
        scored = expected["redirection"][counterfactual]["scored"]
        assert list(kept) == list(scored)
        for turn, each in scored.items():
            found = kept[turn]
            pair = [found["actual_log_probability"], found["reference_log_probability"]]
            assert pair == pytest.approx(each["clean_logp"], abs=1e-3)
            assert found["reply_tokens"] == each["clean_n_tokens"]
            score = conversation.get_utterance(turn).meta["redirection"]
            assert score == found["summed"] == pytest.approx(logit(pair[0]) - logit(pair[1]), abs=1e-9)
            assert found["per_token"] == pytest.approx(score / each["clean_n_tokens"])


@pytest.mark.parametrize("counterfactual", ["prev", "delete"])
@pytest.mark.parametrize("name", EQUAL + EQUAL_BUT_FOR_NAMES_OR_ORDER)
def test_with_the_reference_stand_in_scores_and_summary_are_convokits(name: str, counterfactual: str) -> None:
    given = reference(name)
    scorer = MediatorRedirection(ReferenceLikelihood(), counterfactual)
    scorer.transform(given.corpus, verbosity=0)
    expected = {
        turn: each["fake"]
        for conversation in given.expected["conversations"].values()
        for turn, each in conversation["redirection"][counterfactual]["scored"].items()
    }
    found = {each.id: each.meta["redirection"] for each in given.corpus.iter_utterances() if "redirection" in each.meta}
    assert found == pytest.approx(expected, abs=1e-9)
    rows = scorer.summary_rows(given.corpus)
    rounded = [{**row, "redirection_mean": round(row["redirection_mean"], 10)} for row in rows]
    assert rounded == given.expected["redirection_summary"][counterfactual]
    summary = scorer.summarize(given.corpus)
    assert list(summary.columns) == ["conversation_id", "n_scored", "redirection_mean"]
    assert summary.to_dict("records") == rows


def test_two_participants_of_one_name_are_told_apart() -> None:
    """c05: x1 and x2 are both called Sam; x1 speaks first. ConvoKit calls both "Sam", so that to the model the reply
    could be by either. The one scored turn is between y (Kim) and x1, who keeps the name: the values are the same."""
    given = reference("c05_dup_names")
    scorer = MediatorRedirection(SharedWords(), "delete")
    scorer.transform(given.corpus, verbosity=0)
    roles = {each.id: each.meta["redirection_role"] for each in given.corpus.iter_utterances()}
    assert roles == {
        "dup.u0": "Sam",
        "dup.u1": "Sam (2)",  # ConvoKit: Sam
        "dup.u2": "Kim",
        "dup.u3": "mediator",
        "dup.u4": "Sam",
        "dup.u5": "Sam (2)",  # ConvoKit: Sam
    }
    # "Sam: A fence is acceptable when the area is large." has 10 words. "Kim: A fenced dog area would help both groups
    # here." has two of them (a, area); the turn "Would a fenced area be acceptable for you, Sam?" two more (acceptable,
    # sam). With it 4 x -0.05 + 6 x -0.31 = -2.06, without 2 x -0.05 + 8 x -0.31 = -2.58.
    (turn,) = given.corpus.get_conversation("dup").meta["redirection"].values()
    assert turn["actual_log_probability"] == pytest.approx(-2.06)
    assert turn["reference_log_probability"] == pytest.approx(-2.58)
    # p = 0.127454 and 0.075774: ln(0.127454 / 0.872546) - ln(0.075774 / 0.924226) = -1.92366 + 2.50120
    assert turn["summed"] == pytest.approx(0.57754, abs=2e-5)


def test_turns_are_read_by_time() -> None:
    """c09: the file has u0, u3, u1, u2, u6, u4, u5. By time: u0 m (100), u1 a (110), u2 b (120), u3 m (130), u4 a and
    u5 m (140, in file order), u6 b (160). u3 and u5 are scored; ConvoKit goes by the file and scores nothing."""
    given = reference("c09_shuffled")
    assert given.expected["conversations"]["shuf"]["redirection"]["prev"]["scored"] == {}
    scorer = MediatorRedirection(SharedWords())
    scorer.transform(given.corpus, verbosity=0)
    narrow, road = (
        "Ben: The old mill road is too narrow for wagons.",
        "mediator: Could the wagons use the river road instead?",
    )
    opening = "mediator: Opening question about the harvest festival parade route."
    works = "Ana: The river road works if it is not flooded."
    assert scorer.comparisons(given.corpus.get_conversation("shuf")) == {
        "shuf.u3": Comparison((narrow, road), (narrow, opening), (works,)),
        "shuf.u5": Comparison(
            (works, "mediator: Who could check the water level the day before?"),
            (works, road),
            ("Ben: I can check the water level on Friday evening.",),
        ),
    }
    turns = given.corpus.get_conversation("shuf").meta["redirection"]
    # u3, ten words of the reply: the, river, road, is are in the actual context, the, road, is in the reference:
    # 4 x -0.05 + 6 x -0.31 = -2.06 and 3 x -0.05 + 7 x -0.31 = -2.32
    assert turns["shuf.u3"]["actual_log_probability"] == pytest.approx(-2.06)
    assert turns["shuf.u3"]["reference_log_probability"] == pytest.approx(-2.32)
    # p = 0.127454 and 0.098274: -1.92366 - (-2.21656)
    assert turns["shuf.u3"]["summed"] == pytest.approx(0.29290, abs=2e-5)
    # u5, ten words: check, the, water, level after the turn, the only after the other one
    assert turns["shuf.u5"]["actual_log_probability"] == pytest.approx(4 * -0.05 + 6 * -0.31)
    assert turns["shuf.u5"]["reference_log_probability"] == pytest.approx(1 * -0.05 + 9 * -0.31)


WINDOW = 512
CUT = {
    # turn: tokens of the context cut, of the reply scored, of the reply cut. After BOS there is room for 511; a token
    # is a byte; a line has its name ("Ana: ", "Ben: " 5, "mediator: " 10) and a blank line (2) after it.
    # u2: background 5 + 40 + 2 = 47, turns 10 + 40 + 2 = 52 and 10 + 41 + 2 = 53, reply 5 + 620 = 625.
    #     47 + 53 + 625 is 214 too many: all the background goes, and the reply keeps 511 - 53 = 458
    "long.u2": (47, 458, 167),
    # u4: background 5 + 620 + 2 = 627, turns 10 + 48 + 2 = 60 and 52, reply 5 + 44 = 49: 627 + 60 + 49 - 511 = 225
    "long.u4": (225, 49, 0),
    # u6: background 51, turns 10 + 760 + 2 = 772 and 60, reply 44: the background goes, and of the turn, which alone
    #     leaves no room for the reply, the first 772 + 44 - 511 = 305
    "long.u6": (51 + 305, 44, 0),
    # u8: background 46, turns 56 and 772, reply 5 + 990 = 995: half of the room, 255, is the reply's; the turn in
    #     question stays, its stand-in loses 772 - 256 = 516
    "long.u8": (46 + 516, 255, 740),
    # u10: background 5 + 990 + 2 = 997, turns 55 and 56, reply 5 + 34 = 39: 997 + 56 + 39 - 511 = 581
    "long.u10": (581, 39, 0),
}


def test_long_texts_are_cut_so_that_turn_and_reply_stay() -> None:
    """c16 in a window of 512: ConvoKit cuts u2's and u4's contexts away altogether and scores both as 0.0."""
    given = reference("c16_long")
    tiny_expected = given.expected["conversations"]["long"]["redirection"]["prev"]["scored"]
    assert [tiny_expected[turn]["tiny"] for turn in ("long.u2", "long.u4")] == [0.0, 0.0]
    scorer = MediatorRedirection(HFLikelihoodModel(TINY_LM, device="cpu", max_length=WINDOW))
    scorer.transform(given.corpus, verbosity=0)
    turns = given.corpus.get_conversation("long").meta["redirection"]
    assert {
        turn: (each["context_tokens_cut"], each["reply_tokens"], each["reply_tokens_cut"])
        for turn, each in turns.items()
    } == CUT
    model, tokenizer = tiny_model(), tiny_tokenizer()
    comparisons = scorer.comparisons(given.corpus.get_conversation("long"))

    def value(lines: tuple[str, ...], reply: str, cut: int, kept: int) -> float:
        before = tokenizer("".join(f"{line}\n\n" for line in lines)[cut:], add_special_tokens=False).input_ids
        said = tokenizer(reply[:kept], add_special_tokens=False).input_ids
        return plain_log_probability(model, [2, *before, *said], kept)

    # what is cut of (actual, reference): the same background of both; then each turn by what it is too long
    both = {
        "long.u2": (47, 47),
        "long.u4": (225, 225),
        "long.u6": (356, 51),
        "long.u8": (46, 562),
        "long.u10": (581, 581),
    }
    for turn, (cut_actual, cut_reference) in both.items():
        asked, found = comparisons[turn], turns[turn]
        pair = [found["actual_log_probability"], found["reference_log_probability"]]
        kept = CUT[turn][1]
        assert pair == pytest.approx(
            [
                value(asked.actual, asked.reply[0], cut_actual, kept),
                value(asked.reference, asked.reply[0], cut_reference, kept),
            ],
            abs=1e-3,
        )
        assert found["summed"] == pytest.approx(pair[0] - pair[1])
        assert found["summed"] != 0
    assert scorer.report is not None
    assert scorer.report.statuses == {"long": Status.COMPLETE}
    assert scorer.report.counts["turns whose context was cut to the model's window"] == 5
    assert scorer.report.counts["turns whose reply was cut to the model's window"] == 2
