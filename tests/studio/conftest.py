"""A Label Studio with the plugin for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.label_studio_server import LabelStudioServer
from tests.studio.studio_projects import Projects


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudioServer]:
    """Shared; every test makes projects and raters of its own."""
    with LabelStudioServer(tmp_path_factory.mktemp("studio") / "data", plugin=True) as server:
        yield server


@pytest.fixture(scope="session")
def projects(server: LabelStudioServer) -> Iterator[Projects]:
    with Projects(server) as projects:
        yield projects
