"""What every view of the plugin shares: who calls, and how refusals are answered."""

import logging
from typing import Any

from django.db import OperationalError
from pydantic import ValidationError
from rest_framework import status
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import APIException
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from label_config.studio import labelstudio
from label_config.studio.refusals import RefusedError
from label_config.studio.roles import is_manager

logger = logging.getLogger(__name__)

_CODES = {status.HTTP_401_UNAUTHORIZED: "unauthorized", status.HTTP_403_FORBIDDEN: "forbidden"}


class CsrfCheckedSession(SessionAuthentication):
    """A session needs the CSRF token; Label Studio's JWT middleware also signs in by session, without one."""

    def enforce_csrf(self, request: Any) -> None:
        if not getattr(request, "is_jwt", False):
            super().enforce_csrf(request)


class PluginView(APIView):
    authentication_classes = [labelstudio.LegacyTokenAuthentication, CsrfCheckedSession]
    permission_classes = [IsAuthenticated]

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        view = super().as_view(**initkwargs)
        # Label Studio turns CSRF off for its API unless the view says this
        view._dont_enforce_csrf_checks = False
        return view

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, RefusedError):
            return Response({"error": str(exc), "code": exc.code, **exc.extra}, status=exc.status)
        if isinstance(exc, ValidationError):
            first = exc.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "body"
            sentence = f"The request is malformed at `{where}`: {first['msg']}."
            return Response({"error": sentence, "code": "invalid"}, status=400)
        if isinstance(exc, OperationalError):
            logger.warning("The database was locked too long: %s", type(exc).__name__)
            return Response({"error": "The database is busy; try again.", "code": "busy"}, status=423)
        response = super().handle_exception(exc)
        if isinstance(exc, APIException):
            response.data = {"error": str(exc.detail), "code": _CODES.get(response.status_code, "invalid")}
        return response  # type: ignore[no-any-return]


class ManagerView(PluginView):
    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not is_manager(request.user):
            raise RefusedError(403, "forbidden", "Only a manager of a study may do this.")
