"""How Label Studio is started: command and environment."""

from pathlib import Path

import pytest

from convolabel import MissingExtraError
from label_config import launch
from label_config.launch import Administrator, StudioServer, studio_command, studio_environment

ADMINISTRATOR = Administrator("admin@example.com", "open sesame", "f" * 40)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed `label-studio` beside the running Python."""
    path = tmp_path / "label-studio"
    path.touch()
    monkeypatch.setattr(launch.sys, "executable", str(tmp_path / "python"))
    return path


def test_command(script: Path, tmp_path: Path) -> None:
    server = StudioServer(tmp_path, host="0.0.0.0", port=8123, administrator=ADMINISTRATOR)
    assert studio_command(server) == [
        *(str(script), "start", "--no-browser", "--internal-host", "0.0.0.0", "--port", "8123"),
        "--enable-legacy-api-token",
    ]
    assert "--enable-legacy-api-token" not in studio_command(StudioServer(tmp_path))


def test_without_label_studio_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(MissingExtraError, match=r"convolabel\[studio\]"):
        studio_command(StudioServer(tmp_path))


def test_secrets_are_in_neither_the_command_nor_a_representation(script: Path, tmp_path: Path) -> None:
    server = StudioServer(tmp_path, administrator=ADMINISTRATOR)
    for shown in (repr(server), " ".join(studio_command(server))):
        assert "sesame" not in shown
        assert "f" * 40 not in shown


def test_environment_of_a_first_start(tmp_path: Path) -> None:
    found = studio_environment(StudioServer(tmp_path / "data", administrator=ADMINISTRATOR), {"PATH": "/bin"})
    assert found["DJANGO_SETTINGS_MODULE"] == "label_config.studio.settings"
    assert found["LABEL_STUDIO_BASE_DATA_DIR"] == str((tmp_path / "data").resolve())
    assert (found["LABEL_STUDIO_USERNAME"], found["LABEL_STUDIO_PASSWORD"]) == ("admin@example.com", "open sesame")
    assert found["LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK"] == "true"
    assert found["LABEL_STUDIO_COLLECT_ANALYTICS"] == "false"
    assert (found["SENTRY_DSN"], found["FRONTEND_SENTRY_DSN"], found["PATH"]) == ("", "", "/bin")


def test_a_deployment_keeps_what_it_has_set(tmp_path: Path) -> None:
    inherited = {"DJANGO_DB": "default", "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "false", "SENTRY_DSN": "x"}
    found = studio_environment(StudioServer(tmp_path), inherited)
    assert inherited.items() <= found.items()
    assert "LABEL_STUDIO_USERNAME" not in found


def test_without_the_plugin_label_studios_own_settings_rule(tmp_path: Path) -> None:
    inherited = {"DJANGO_SETTINGS_MODULE": "label_config.studio.settings"}
    assert "DJANGO_SETTINGS_MODULE" not in studio_environment(StudioServer(tmp_path, plugin=False), inherited)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:8080"),
        ("studio.example.org", "http://studio.example.org:8080"),
    ],
)
def test_url(host: str, url: str, tmp_path: Path) -> None:
    assert StudioServer(tmp_path, host=host).url == url
