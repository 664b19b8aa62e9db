"""The hidden control: exactly the documented HMAC, and the share it promises."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ml_backend.control import control_fraction, is_control

SALT = "0123456789abcdef" * 4
UNIT = {"project": "12", "rater": "7", "conversation": "thread-017", "span_id": "017-2-1"}


# Written out by hand: the message is the bytes below, nothing is computed from the code under test.
@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("rater_span", b'["12","7","thread-017","017-2-1"]'),
        ("span", b'["12","thread-017","017-2-1"]'),
    ],
)
def test_fraction_is_the_documented_hmac(unit: str, message: bytes) -> None:
    digest = hmac.new(SALT.encode(), message, hashlib.sha256).hexdigest()
    expected = int(digest[:16], 16) / 18446744073709551616  # 2**64
    assert control_fraction(SALT, unit=unit, **UNIT) == expected


def test_fixed_vectors() -> None:
    # printf '["12","7","thread-017","017-2-1"]' | openssl dgst -sha256 -hmac 0123456789abcdef... (four times)
    assert control_fraction(SALT, unit="rater_span", **UNIT) == int("b9ef98a2fa3b2e22", 16) / 2**64
    assert control_fraction(SALT, unit="span", **UNIT) == int("c8f0496fe7d0d6f0", 16) / 2**64


def test_non_ascii_ids_are_escaped() -> None:
    unit = {**UNIT, "conversation": "Gespräch"}
    digest = hmac.new(SALT.encode(), b'["12","7","Gespr\\u00e4ch","017-2-1"]', hashlib.sha256).digest()
    assert control_fraction(SALT, unit="rater_span", **unit) == int.from_bytes(digest[:8], "big") / 2**64


def test_fields_cannot_run_into_each_other() -> None:
    one = {**UNIT, "conversation": "ab", "span_id": "c"}
    other = {**UNIT, "conversation": "a", "span_id": "bc"}
    quoted = {**UNIT, "conversation": 'a","b', "span_id": "c"}
    assert len({control_fraction(SALT, unit="rater_span", **unit) for unit in (one, other, quoted)}) == 3


def test_span_unit_leaves_the_rater_out() -> None:
    fractions = {control_fraction(SALT, unit="span", **{**UNIT, "rater": str(n)}) for n in range(20)}
    assert len(fractions) == 1
    assert len({control_fraction(SALT, unit="rater_span", **{**UNIT, "rater": str(n)}) for n in range(20)}) == 20


@given(st.sampled_from([0.1, 0.2, 0.5]), st.integers(0, 10**9))
def test_share_of_controls(share: float, seed: int) -> None:
    # 2,000 independent units: the count has standard deviation sqrt(2000 s (1 - s)) <= 22.4; six of them is 135
    arms = [
        is_control(f"salt-number-{seed:010}", share, unit="rater_span", **{**UNIT, "span_id": str(n)})
        for n in range(2000)
    ]
    assert abs(sum(arms) - 2000 * share) < 135


@given(st.text(max_size=20), st.text(max_size=20))
def test_larger_share_keeps_every_control(conversation: str, span_id: str) -> None:
    unit = {**UNIT, "conversation": conversation, "span_id": span_id}
    arms = [is_control(SALT, share, unit="rater_span", **unit) for share in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    assert arms == sorted(arms)
    assert arms[0] is False


def test_control_means_below_the_share() -> None:
    for n in range(50):
        message = f'["12","7","thread-017","{n}"]'.encode()
        digest = hmac.new(SALT.encode(), message, hashlib.sha256).digest()
        below = int.from_bytes(digest[:8], "big") * 5 < 2**64  # a fifth of all
        assert is_control(SALT, 0.2, unit="rater_span", **{**UNIT, "span_id": str(n)}) is below
