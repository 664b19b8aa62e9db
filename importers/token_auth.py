"""How requests are signed: a legacy token as it is, a personal access token by short-lived access tokens."""

from collections.abc import Generator

import httpx

REFRESH_PATH = "/api/token/refresh/"


class TokenAuth(httpx.Auth):
    """Signs every request to `url`.

    A legacy token is 40 characters that go along as they are. A personal access token is a JWT that only buys access
    tokens of some minutes. The SDK looks at an access token's own expiry, so a clock that is off or a server that
    withdraws it early ends a run; here the server's 401 counts, and buys one new access token per request.
    """

    requires_response_body = True

    def __init__(self, url: str, token: str) -> None:
        self._refresh_url = f"{url}{REFRESH_PATH}"
        self._token = token
        self._is_personal = token.count(".") == 2
        self._access: str | None = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if not self._is_personal:
            request.headers["Authorization"] = f"Token {self._token}"
            yield request
            return
        if self._access is not None:
            request.headers["Authorization"] = f"Bearer {self._access}"
            response = yield request
            if response.status_code != httpx.codes.UNAUTHORIZED:
                return
        refreshed = yield httpx.Request("POST", self._refresh_url, json={"refresh": self._token})
        if refreshed.status_code != httpx.codes.OK:
            # httpx hands the last response on: the caller sees why no access token was given
            return
        self._access = str(refreshed.json()["access"])
        request.headers["Authorization"] = f"Bearer {self._access}"
        yield request
