"""The Label Studio project of a study: how it is found, and the settings it has."""

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree

from convolabel.codebook import Codebook
from convolabel.errors import InputError, RemoteError
from convolabel.native_regions import UNITS_VERSION
from convolabel.study import Study
from importers.connection import Connection
from label_config.labeling_config import labeling_config

Project = Any
"""A project as the SDK gives it."""


def study_marker(study_name: str) -> str:
    """The line of a project's description that says whose project it is; titles can be changed and stand twice."""
    return f"convolabel study: {study_name}"


def find_project(study: Study, connection: Connection) -> Project | None:
    """The study's project, None before `create_study`. Raises `RemoteError` when two projects claim the study."""
    marker = study_marker(study.study)
    with connection.answering("list the projects"):
        projects: Iterable[Project] = connection.sdk.projects.list(page_size=100)
        found = [project for project in projects if marker in _lines(project.description)]
    if len(found) > 1:
        numbers = " and ".join(str(project.id) for project in found)
        raise RemoteError(
            f"The projects {numbers} of {connection.url} both say `{marker}` in their description; take the line out of"
            " all but one."
        )
    return found[0] if found else None


def the_project(study: Study, connection: Connection) -> Project:
    """The study's project. Raises `InputError` before `create_study`."""
    project = find_project(study, connection)
    if project is None:
        raise InputError(
            f"Label Studio at {connection.url} has no project of study `{study.study}`; run `convolabel create` first."
        )
    return project


def project_settings(study: Study) -> dict[str, Any]:
    """The project's fields as the study wants them, `description` and `model_version` apart."""
    return {
        "title": study.project_title[:50],  # Label Studio's limit
        "label_config": labeling_config(study.codebook),
        "maximum_annotations": study.votes_wanted,
        "overlap_cohort_percentage": 100,
        "sampling": "Sequential sampling",
        "show_collab_predictions": True,
        "enable_empty_annotation": False,
        "show_skip_button": False,
        "show_annotation_history": False,
        "evaluate_predictions_automatically": False,
        "reveal_preannotations_interactively": False,
    }


def settings_to_change(wanted: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """Those of `wanted` that `project` does not have yet."""
    return {name: value for name, value in wanted.items() if getattr(project, name, None) != value}


def show_units(project: Project, connection: Connection) -> None:
    """Make the stock interface start from the frozen units; Label Studio takes the setting once units are there."""
    if project.model_version != UNITS_VERSION:
        with connection.answering("set the project's model version"):
            connection.sdk.projects.update(project.id, model_version=UNITS_VERSION)


def removed_choices(old_config: str, codebook: Codebook) -> list[str]:
    """Categories, as `dimension/category`, that the config offers for votes and `codebook` has no more."""
    kept = {(dimension.id, choice) for dimension in codebook.dimensions for choice in dimension.choices}
    offered = [
        (choices.get("name", ""), choice.get("alias") or choice.get("value", ""))
        for choices in _parsed(old_config).iter("Choices")
        for choice in choices.iter("Choice")
    ]
    return [f"{dimension}/{choice}" for dimension, choice in offered if (dimension, choice) not in kept]


def _parsed(config: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(config)  # noqa: S314 - the server's own config, validated there
    except ElementTree.ParseError:
        return ElementTree.Element("View")


def _lines(description: str | None) -> list[str]:
    return [line.strip() for line in (description or "").splitlines()]
