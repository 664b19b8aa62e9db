"""Alpha against published values: Krippendorff's worked examples, and public data when it is at hand."""

import csv
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators import Agreement, agreement, distances, load_votes, read_distances, times
from evaluators.metrics import Level

SHARED = Path(os.environ.get("CONVOLABEL_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data"


def alpha_of(*raters: str, level: Level = "nominal") -> dict[str, Any]:
    """Agreement of raters given as rows of single-character values, `-` being missing."""
    rows = [
        {"unit": unit, "rater": rater, "value": value}
        for rater, values in enumerate(raters)
        for unit, value in enumerate(values.split())
    ]
    votes = load_votes(rows, missing={"-"}, unit="unit", rater="rater", value="value")
    (row,) = agreement(votes, level=level).as_dict()["overall"]
    return row  # type: ignore[no-any-return]


def test_binary_data_of_two_coders() -> None:
    # Krippendorff (2011), section A: D_o = 4/10; values 14 x 0, 6 x 1: D_e = 2*14*6/(20*19) = 168/380
    # alpha = 1 - (4/10) * (380/168) = 1 - 1520/1680 = 2/21 = .095
    result = alpha_of("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")
    assert result["alpha"] == pytest.approx(2 / 21, abs=1e-12)
    assert result["observed_agreement"] == pytest.approx(6 / 10)


def test_nominal_data_of_two_coders() -> None:
    # section B: 3 of 12 units differ, so D_o = 1/4. The 24 values: 1 x 4, 2 x 6, 3 x 6, 4 x 6, 5 x 2
    # D_e = (24*24 - (16 + 36 + 36 + 36 + 4)) / (24*23) = 448/552; alpha = 1 - 138/448 = 310/448 = .692
    result = alpha_of("1 1 2 2 4 3 3 3 5 4 4 1", "2 1 2 2 2 3 3 3 5 4 4 4")
    assert result["alpha"] == pytest.approx(310 / 448, abs=1e-12)
    assert round(result["alpha"], 3) == 0.692


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_four_coders_with_gaps(level: Level, published: float) -> None:
    # sections C and D; the twelfth unit has one value and is not pairable
    result = alpha_of(
        "1 2 3 3 2 1 4 1 2 - - -",
        "1 2 3 3 2 2 4 1 2 5 - 3",
        "- 3 3 3 2 3 4 2 2 5 1 -",
        "1 2 3 3 2 4 4 1 2 5 1 -",
        level=level,
    )
    assert round(result["alpha"], 3) == published
    assert (result["units"], result["pairable_units"], result["raters"], result["values"]) == (12, 11, 4, 41)
    if level == "nominal":
        assert result["alpha"] == pytest.approx(904 / 1216, abs=1e-12)


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"no {name} below the shared data folder (CONVOLABEL_SHARED)")
    return path


def annomi_of_ten_raters() -> list[dict[str, str]]:
    with shared("annomi/AnnoMI-full.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    raters: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        raters[row["transcript_id"]].add(row["annotator_id"])
    return [row for row in rows if len(raters[row["transcript_id"]]) == 10]


def annomi(column: str, missing: str = "n/a") -> Agreement:
    votes = load_votes(
        [row for row in annomi_of_ten_raters() if missing or row["interlocutor"] == "therapist"],
        unit=("transcript_id", "utterance_id"),
        rater="annotator_id",
        value=column,
        conversation="transcript_id",
        role="interlocutor",
        missing={missing},
    )
    return agreement(votes)


@pytest.mark.parametrize(
    ("column", "alpha", "units"), [("main_therapist_behaviour", 0.7367, 216), ("client_talk_type", 0.4671, 212)]
)
def test_annomi(column: str, alpha: float, units: int) -> None:
    result = annomi(column)
    overall = result.overall.iloc[0]
    assert round(overall["alpha"], 4) == alpha
    assert (overall["pairable_units"], overall["raters"], overall["conversations"]) == (units, 10, 7)
    assert overall["low"] < alpha < overall["high"]
    assert len(result.pairs) == 45


@pytest.mark.parametrize(
    ("column", "alpha"),
    [
        ("question_exists", 0.8688),
        ("reflection_exists", 0.6597),
        ("therapist_input_exists", 0.6443),
        # no question is an answer of the therapist's units, and so on
        ("question_subtype", 0.7398),
        ("reflection_subtype", 0.4963),
        ("therapist_input_subtype", 0.5119),
    ],
)
def test_annomi_by_column(column: str, alpha: float) -> None:
    result = annomi(column, missing="" if column.endswith("subtype") else "n/a")
    assert round(result.overall["alpha"][0], 4) == alpha
    assert result.overall["pairable_units"][0] == 216


def test_artstein_and_poesio() -> None:
    lines = shared("cams/data_processing/label_data/artstein_poesio_example.txt").read_text(encoding="utf-8")
    rows = [
        dict(zip(("rater", "unit", "value"), line.split(), strict=True)) for line in lines.splitlines() if line.strip()
    ]
    votes = load_votes(rows, unit="unit", rater="rater", value="value")
    result = agreement(votes)
    assert round(result.overall["alpha"][0], 5) == 0.80053
    assert result.overall[["pairable_units", "raters"]].to_numpy().tolist() == [[100, 2]]
    (pair,) = result.as_dict()["pairs"]
    assert (round(pair["pi"], 5), round(pair["kappa"], 5)) == (0.79953, 0.80132)
    # their weights: stat and ireq are a whole apart, chck half a way from either
    weights = distances(("stat", "ireq", "chck"), np.array([[0, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]]))
    assert round(agreement(votes, distances=weights).overall["alpha"][0], 5) == 0.81555


def cams_rows(number: int, *, practice: bool) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for path in sorted(shared("cams/static/data/user_dialogues").glob(f"*-{number}.json")):
        work = json.loads(path.read_text(encoding="utf-8"))
        for dialogue in work["dialogues"]:
            talk = dialogue["dialogue_id"]
            if talk == "practice" and not practice:
                continue
            rows += [
                {"talk": talk, "unit": place, "rater": work["user_id"], "label": said["da_label"], "ms": said["time"]}
                for place, said in enumerate(dialogue["utterances"])
            ]
    return rows


CAMS = {"unit": ("talk", "unit"), "rater": "rater", "value": "label", "conversation": "talk", "time": "ms"}


@pytest.mark.parametrize(
    ("number", "published", "without_practice", "nominal"),
    [
        (1, 0.4787, 0.4133, 0.3434),
        (2, 0.3246, 0.2662, 0.2069),
        (3, 0.4424, 0.3883, 0.3359),
        (4, 0.5189, 0.4477, 0.4011),
        (5, 0.5850, 0.5247, 0.3716),
    ],
)
def test_cams_with_its_distance_matrix(number: int, published: float, without_practice: float, nominal: float) -> None:
    matrix = read_distances(shared("cams/data_processing/label_data/da_distance_matrix.csv"))
    whole = load_votes(cams_rows(number, practice=True), **CAMS)  # type: ignore[arg-type]
    result = agreement(whole, distances=matrix)
    assert round(result.overall["alpha"][0], 4) == published
    assert (result.overall["raters"][0], result.overall["conversations"][0]) == (3, 5)
    part = load_votes(cams_rows(number, practice=False), **CAMS)  # type: ignore[arg-type]
    assert round(agreement(part, distances=matrix).overall["alpha"][0], 4) == without_practice
    assert round(agreement(part).overall["alpha"][0], 4) == nominal


def test_cams_times() -> None:
    rows = cams_rows(1, practice=True)
    result = times(load_votes(rows, **CAMS))  # type: ignore[arg-type]
    assert result.overall["n"].tolist() == [144]
    assert result.overall["median_ms"].tolist() == [float(np.median([row["ms"] for row in rows]))]  # type: ignore[misc]
    assert (result.learning_slope["slope"] < 0).all()
