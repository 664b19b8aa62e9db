from types import SimpleNamespace

import pytest

from convolabel import Study
from importers.projects import project_settings, removed_choices, settings_to_change, study_marker
from label_config.labeling_config import labeling_config


def test_a_project_as_wanted_needs_no_change(study: Study) -> None:
    wanted = project_settings(study)
    assert settings_to_change(wanted, SimpleNamespace(**wanted, id=3)) == {}
    assert settings_to_change(wanted, SimpleNamespace(**{**wanted, "maximum_annotations": 9})) == {
        "maximum_annotations": 2
    }


def test_the_overlap_is_the_number_of_raters(study: Study) -> None:
    assert project_settings(study)["maximum_annotations"] == 2


def test_the_marker_is_exact() -> None:
    assert study_marker("small") == "convolabel study: small"


@pytest.mark.parametrize(
    ("kept", "lost"),
    [(["Q", "S"], []), (["S", "N"], ["act/Q"])],
)
def test_removed_categories_are_found_by_their_alias(study: Study, kept: list[str], lost: list[str]) -> None:
    document = study.codebook.model_dump()
    document["dimensions"][0]["categories"] = [{"id": ident, "name": f"name of {ident}"} for ident in kept]
    changed = Study.model_validate({**study.model_dump(), "codebook": document})
    assert removed_choices(labeling_config(study.codebook), changed.codebook) == lost


def test_a_removed_dimension_loses_all_its_categories(study: Study) -> None:
    document = study.codebook.model_dump()
    document["dimensions"] = document["dimensions"][:1]
    changed = Study.model_validate({**study.model_dump(), "codebook": document})
    assert removed_choices(labeling_config(study.codebook), changed.codebook) == ["tone/w", "tone/c", "tone/unsure"]


def test_a_config_of_somebody_elses_loses_nothing(study: Study) -> None:
    assert removed_choices("<View></View>", study.codebook) == []
    assert removed_choices("not xml", study.codebook) == []
