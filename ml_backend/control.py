"""The hidden control: which suggestions are withheld, decided by a keyed hash (design, section 7).

Whoever does not know the study's salt cannot tell a control span from any other; whoever does can recompute every arm.
Nothing is drawn at random when a suggestion is asked for, so asking twice cannot change the arm.
"""

import hashlib
import hmac
import json
from typing import Literal

ControlUnit = Literal["rater_span", "span"]


def control_fraction(
    salt: str, *, unit: ControlUnit, project: str, rater: str, conversation: str, span_id: str
) -> float:
    """Where a unit falls in [0, 1).

    The message is the compact ASCII JSON array `[project, rater, conversation, span_id]`, or
    `[project, conversation, span_id]` when `unit` is `span`; JSON's quotes keep `("ab", "c")` apart from `("a", "bc")`.
    The key is the salt in UTF-8. The first 8 bytes of the HMAC-SHA-256, big-endian, are a fraction of 2**64.
    """
    fields = [project, rater, conversation, span_id] if unit == "rater_span" else [project, conversation, span_id]
    message = json.dumps(fields, separators=(",", ":")).encode("ascii")
    digest = hmac.new(salt.encode(), message, hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def is_control(
    salt: str, share: float, *, unit: ControlUnit, project: str, rater: str, conversation: str, span_id: str
) -> bool:
    """Whether the suggestion for this unit is withheld: its fraction lies below `share` (0 to 0.5)."""
    fraction = control_fraction(
        salt, unit=unit, project=project, rater=rater, conversation=conversation, span_id=span_id
    )
    return fraction < share
