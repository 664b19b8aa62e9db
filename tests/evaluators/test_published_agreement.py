"""Alpha against published values: Krippendorff's worked examples, and public data when it is at hand."""

import csv
import os
from collections import defaultdict
from pathlib import Path

import pytest

from evaluators import Agreement, agreement

SHARED = Path(os.environ.get("CONVOLABEL_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data"


def alpha_of(*raters: str) -> Agreement:
    """Agreement of raters given as rows of single-character values, `-` being missing."""
    rows = [
        {"unit": unit, "rater": rater, "value": value}
        for rater, values in enumerate(raters)
        for unit, value in enumerate(values.split())
    ]
    (result,) = agreement(rows, missing={"-"}, unit="unit", rater="rater", value="value")
    return result


def test_binary_data_of_two_coders() -> None:
    # Krippendorff (2011), section A: D_o = 4/10; values 14 x 0, 6 x 1: D_e = 2*14*6/(20*19) = 168/380
    # alpha = 1 - (4/10) * (380/168) = 1 - 1520/1680 = 2/21 = .095
    result = alpha_of("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")
    assert result.alpha == pytest.approx(2 / 21, abs=1e-12)
    assert result.observed_agreement == pytest.approx(6 / 10)


def test_nominal_data_of_two_coders() -> None:
    # section B: 3 of 12 units differ, so D_o = 1/4. The 24 values: 1 x 4, 2 x 6, 3 x 6, 4 x 6, 5 x 2
    # D_e = (24*24 - (16 + 36 + 36 + 36 + 4)) / (24*23) = 448/552; alpha = 1 - 138/448 = 310/448 = .692
    result = alpha_of("1 1 2 2 4 3 3 3 5 4 4 1", "2 1 2 2 2 3 3 3 5 4 4 4")
    assert result.alpha == pytest.approx(310 / 448, abs=1e-12)
    assert round(result.alpha or 0, 3) == 0.692
    assert result.categories == {"1": 4, "2": 6, "4": 6, "3": 6, "5": 2}


def test_four_coders_with_gaps() -> None:
    # section C: the paper gives .743; the twelfth unit has one value and is not pairable
    result = alpha_of(
        "1 2 3 3 2 1 4 1 2 - - -",
        "1 2 3 3 2 2 4 1 2 5 - 3",
        "- 3 3 3 2 3 4 2 2 5 1 -",
        "1 2 3 3 2 4 4 1 2 5 1 -",
    )
    assert result.alpha == pytest.approx(904 / 1216, abs=1e-12)
    assert (result.units, result.pairable_units, result.raters, result.values) == (12, 11, 4, 41)


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


@pytest.mark.parametrize(
    ("column", "alpha", "units"), [("main_therapist_behaviour", 0.7367, 216), ("client_talk_type", 0.4671, 212)]
)
def test_annomi(column: str, alpha: float, units: int) -> None:
    (result,) = agreement(
        annomi_of_ten_raters(),
        unit=("transcript_id", "utterance_id"),
        rater="annotator_id",
        value=column,
        missing={"n/a"},
    )
    assert round(result.alpha or 0, 4) == alpha
    assert (result.pairable_units, result.raters) == (units, 10)


def test_artstein_and_poesio() -> None:
    lines = shared("cams/data_processing/label_data/artstein_poesio_example.txt").read_text(encoding="utf-8")
    rows = [
        dict(zip(("rater", "unit", "value"), line.split(), strict=True)) for line in lines.splitlines() if line.strip()
    ]
    (result,) = agreement(rows, unit="unit", rater="rater", value="value")
    assert round(result.alpha or 0, 5) == 0.80053
    assert (result.pairable_units, result.raters) == (100, 2)
