"""The connection to a Label Studio server: the SDK's client, what the server is, and errors in plain words."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx
from label_studio_sdk import LabelStudio
from label_studio_sdk.core.api_error import ApiError

from convolabel.errors import InputError, RemoteError
from importers.retrying_client import RetryingClient
from importers.token_auth import TokenAuth

TIMEOUT = httpx.Timeout(120, connect=10)
"""Seconds. Label Studio answers an import when all of it is in the database."""
PLUGIN_API = "/convolabel/api"
_TRANSIENT_ANSWERS = frozenset({502, 503, 504})


class UnreachableError(RemoteError):
    """No answer, or only a gateway's: whether the request was carried out is not known."""


@dataclass(frozen=True)
class Connection:
    """An open connection, made by `connect`. `sdk` is Label Studio's client; `http` the same wire for other paths.

    `plugin` is the version of the convolabel plugin, None on a stock Label Studio.
    """

    url: str
    release: str
    plugin: str | None
    sdk: LabelStudio
    http: httpx.Client

    def get(self, path: str, **params: Any) -> Any:
        """The JSON at `path`. Use it inside `answering`."""
        return _json(self.http.get(f"{self.url}{path}", params=params))

    def put(self, path: str, body: object) -> Any:
        return _json(self.http.put(f"{self.url}{path}", json=body))

    @contextmanager
    def answering(self, doing: str, *, quote: bool = True) -> Iterator[None]:
        """Turns what goes wrong on the wire into one `RemoteError`; `doing` completes "could not ...".

        `quote` repeats Label Studio's own reason; leave it off where the reason could hold conversation text.
        """
        with _plain_errors(self.url, doing, quote=quote):
            yield

    def close(self) -> None:
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(url: str, token: str) -> Connection:
    """Connect to the Label Studio at `url` with a legacy token or a personal access token.

    Raises `RemoteError` when nothing answers there, when it is not Label Studio, or when it refuses the token, and
    `InputError` without a token.
    """
    url, token = url.rstrip("/"), token.strip()
    if not token or not token.isascii() or not token.isprintable():
        raise InputError(
            "No usable Label Studio token is given; copy one from Account & Settings into the environment variable"
            " LABEL_STUDIO_API_KEY."
        )
    if "@" in url:
        # whatever is wrong later, the message names the address
        raise InputError("The address of Label Studio holds a user name or password; give it without.")
    http = RetryingClient(auth=TokenAuth(url, token), timeout=TIMEOUT)
    try:
        with _plain_errors(url, "connect"):
            release = _release(http, url)
            _json(http.get(f"{url}/api/current-user/whoami"))
            plugin = _plugin(http, url)
    except BaseException:
        http.close()
        raise
    # TokenAuth signs every request; the SDK only has to be given something
    sdk = LabelStudio(  # type: ignore[no-untyped-call]
        base_url=url, api_key="set-by-token-auth", httpx_client=http, max_retries=0
    )
    return Connection(url, release, plugin, sdk, http)


def _release(http: httpx.Client, url: str) -> str:
    # without a token: what is wrong with the address comes before what is wrong with the token
    response = http.get(f"{url}/api/version", auth=None)
    try:
        if response.status_code != httpx.codes.NOT_FOUND:
            return str(_json(response)["label-studio-os-package"]["version"])
        raise KeyError
    except (ValueError, TypeError, KeyError):
        raise RemoteError(f"{url} is not a Label Studio server; check the address.") from None


def _plugin(http: httpx.Client, url: str) -> str | None:
    response = http.get(f"{url}{PLUGIN_API}/ping")
    if response.status_code == httpx.codes.NOT_FOUND:
        return None
    return str(_json(response)["convolabel"])


def _json(response: httpx.Response) -> Any:
    if not response.is_success:
        raise ApiError(status_code=response.status_code, headers=dict(response.headers), body=_body(response))
    return response.json()


def _body(response: httpx.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return None


@contextmanager
def _plain_errors(url: str, doing: str, *, quote: bool = True) -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        raise _refusal(error, url, doing, quote=quote) from None
    except httpx.TimeoutException:
        raise UnreachableError(
            f"Could not {doing}: Label Studio at {url} did not answer in time; see whether it is busy and try again."
        ) from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise InputError(f"{url} is not an address; write it like http://127.0.0.1:8080.") from None
    except httpx.TransportError:
        raise UnreachableError(
            f"Could not {doing}: the connection to {url} failed; check the address and that Label Studio is running."
        ) from None
    except ValueError:
        raise RemoteError(
            f"Could not {doing}: {url} did not answer with JSON; check that the address leads to Label Studio itself."
        ) from None


def _refusal(error: ApiError, url: str, doing: str, *, quote: bool) -> RemoteError:
    status = error.status_code or 0
    where = f"Could not {doing}: Label Studio at {url}"
    if status == httpx.codes.UNAUTHORIZED:
        return RemoteError(
            f"{where} refused the token (401); copy a new one from Account & Settings, and for a legacy token see that"
            " the organisation has legacy tokens switched on."
        )
    if status == httpx.codes.FORBIDDEN:
        return RemoteError(f"{where} forbids it to this account (403){_reason(error, quote)}; use a manager's token.")
    if 300 <= status < 400:
        target = (error.headers or {}).get("location", "another address")
        return RemoteError(f"{where} redirects to {target}; use the address it redirects to.")
    if status in _TRANSIENT_ANSWERS:
        return UnreachableError(f"{where} is not available ({status}); try again when it is up.")
    if status >= 500:
        return RemoteError(f"{where} failed ({status}); its own log says why.")
    return RemoteError(f"{where} refused it ({status}){_reason(error, quote)}.")


def _reason(error: ApiError, quote: bool) -> str:
    """Label Studio's or the plugin's own reason, in one line."""
    if not quote or not isinstance(error.body, dict):
        return ""
    reasons = error.body.get("validation_errors") or error.body.get("error") or error.body.get("detail")
    return f": {' '.join(_texts(reasons))[:300]}" if reasons else ""


def _texts(node: object) -> list[str]:
    if isinstance(node, dict):
        return [f"{key}: {' '.join(_texts(value))}" for key, value in node.items()]
    return [text for part in node for text in _texts(part)] if isinstance(node, list) else [str(node).rstrip(".")]
