"""One stock Label Studio for all tests that need a real one."""

from collections.abc import Iterator

import pytest

from convolabel import Study
from tests.importers.two_unit_study import small_study
from tests.label_studio_server import LabelStudioServer


@pytest.fixture
def study() -> Study:
    return small_study()


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudioServer]:
    with LabelStudioServer(tmp_path_factory.mktemp("studio") / "data") as server:
        yield server
