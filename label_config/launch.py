"""How Label Studio with the plugin is started: the command and the environment, as plain values."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from convolabel.errors import MissingExtraError

SETTINGS = "label_config.studio.settings"


@dataclass(frozen=True)
class Administrator:
    """The account made at the first start, when the database is empty."""

    email: str
    password: str = field(repr=False)
    token: str = field(repr=False)


@dataclass(frozen=True)
class StudioServer:
    """A Label Studio server on this machine. `plugin` off gives the stock product, as a comparison or a way out."""

    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 8080
    administrator: Administrator | None = None
    plugin: bool = True

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self.host == "0.0.0.0" else self.host  # noqa: S104 - compared, not bound
        return f"http://{host}:{self.port}"


def studio_command(server: StudioServer) -> list[str]:
    """The command that serves until it is terminated. Raises `MissingExtraError` without Label Studio."""
    script = Path(sys.executable).with_name("label-studio")
    if not script.is_file():
        raise MissingExtraError("Label Studio", "studio")
    legacy = ["--enable-legacy-api-token"] if server.administrator else []
    place = ["--internal-host", server.host, "--port", str(server.port)]
    return [str(script), "start", "--no-browser", *place, *legacy]


def studio_environment(server: StudioServer, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The server's environment. What a deployment has set itself (a Postgres database, say) stays as it is."""
    defaults = {
        "DJANGO_DB": "sqlite",
        # without these Label Studio refuses a scoring server on the loopback interface
        "LABEL_STUDIO_ML_BLOCK_LOCAL_IP": "false",
        "LABEL_STUDIO_SSRF_PROTECTION_ENABLED": "false",
        # nothing leaves the machine, nobody signs up on their own
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
        "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }
    fixed = {"LABEL_STUDIO_BASE_DATA_DIR": str(server.data_dir.resolve())}
    if server.plugin:
        fixed["DJANGO_SETTINGS_MODULE"] = SETTINGS
    if server.administrator:
        fixed |= {
            "LABEL_STUDIO_USERNAME": server.administrator.email,
            "LABEL_STUDIO_PASSWORD": server.administrator.password,
            "LABEL_STUDIO_USER_TOKEN": server.administrator.token,
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        }
    kept = {name: value for name, value in inherited.items() if server.plugin or name != "DJANGO_SETTINGS_MODULE"}
    return {**defaults, **kept, **fixed}
