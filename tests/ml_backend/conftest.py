"""Fixtures of the scoring server's tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from small_study import CREDENTIALS, Clients, WordEmbedder, study

from convolabel.study import Study
from ml_backend.app import SERVICE, create_app


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def client_for(tmp_path: Path, embedder: WordEmbedder) -> Iterator[Clients]:
    """Makes signed-in clients of apps that share a state directory; closes the apps afterwards."""
    services = []

    def make(*studies: Study, authorised: bool = True, **options: Any) -> FlaskClient:
        app = create_app(studies or (study(),), CREDENTIALS, tmp_path, embedders=lambda _: embedder, **options)
        services.append(app.extensions[SERVICE])
        client = app.test_client()
        if authorised:
            client.environ_base["HTTP_AUTHORIZATION"] = "Basic c3R1ZGlvOmNvcnJlY3QgaG9yc2U="  # studio:correct horse
        return client

    yield make
    embedder.gate.set()
    for service in services:
        service.close()
