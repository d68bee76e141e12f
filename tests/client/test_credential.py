"""Tokens of a client that change while it is connected."""

from __future__ import annotations

import base64
import json
from concurrent.futures import Future

import pytest

from tamis.client.connection.credential import NOT_AGAIN, expiry_of
from tamis.client.errors import ClientClosed, NotAdmitted, TokenRefused
from tamis.protocol.errors import Refused
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range, Refusal
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session_bodies import AUTH_AGAIN, Auth, Authenticated, AuthMethod, Error, Welcome
from tests.client.by_hand import NAME, Hand

ACCEPTED = Ack(AckOf.AUTH, 0, (Range(0, 0),))
WRONG = Ack(AckOf.AUTH, 0, (), (Refusal(0, RefusalCode.NOT_ALLOWED, "not valid"),))
FIRST = "first"
METHODS = (AuthMethod.TOKEN, AuthMethod.JWT)


def signed(expires_s: float) -> str:
    """A token of which only the claims can be read."""

    def part(form: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(form).encode()).rstrip(b"=").decode()

    return f"{part({'alg': 'ES256'})}.{part({'sub': NAME, 'exp': expires_s})}.c2ln"


def greeted(hand: Hand, *capabilities: str) -> Auth:
    """Admit the client over a new connection; return what it has shown."""
    hand.connect()
    hand.say(Welcome("rome", 1, bytes(16), 2, capabilities, 1 << 20, 30_000, 0, METHODS))
    [auth] = hand.sent()
    assert isinstance(auth, Auth)
    hand.say(Authenticated(b"", stable_number(NAME), 10_000, 0))
    return auth


def pass_s(hand: Hand, seconds: float) -> None:
    """Turn both clocks."""
    hand.now += seconds
    hand.unix_us += round(seconds * 1_000_000)
    hand.core.tick(hand.now)


def auths(hand: Hand) -> list[Auth]:
    return [each for each in hand.sent() if isinstance(each, Auth)]


def test_another_token_is_shown_and_used_from_then_on() -> None:
    hand, done = Hand(token=FIRST), Future()
    assert greeted(hand, AUTH_AGAIN) == Auth(AuthMethod.TOKEN, b"first")
    hand.core.authenticate("second", done)
    assert auths(hand) == [Auth(AuthMethod.TOKEN, b"second")]
    assert not done.done()
    hand.say(ACCEPTED)
    assert done.result() is None
    hand.core.cut("cut", hand.now)
    assert greeted(hand, AUTH_AGAIN) == Auth(AuthMethod.TOKEN, b"second")


def test_a_refused_token_is_an_error_and_the_one_before_stays() -> None:
    hand, done = Hand(token=FIRST), Future()
    greeted(hand, AUTH_AGAIN)
    hand.core.authenticate("second", done)
    hand.say(WRONG)
    with pytest.raises(TokenRefused, match=r"the router refused the token: NOT_ALLOWED .not valid.") as error:
        done.result()
    assert (error.value.code, error.value.reason) == (RefusalCode.NOT_ALLOWED, "not valid")
    assert hand.core.is_connected
    hand.core.cut("cut", hand.now)
    assert greeted(hand, AUTH_AGAIN) == Auth(AuthMethod.TOKEN, b"first")


def test_after_a_cut_the_greeting_is_the_answer() -> None:
    hand, done = Hand(token=FIRST), Future()
    greeted(hand, AUTH_AGAIN)
    hand.core.authenticate("second", done)
    hand.core.cut("cut", hand.now)
    assert greeted(hand) == Auth(AuthMethod.TOKEN, b"second")
    assert done.result() is None


def test_a_token_may_be_given_while_no_router_is_connected() -> None:
    hand, done = Hand(token=FIRST), Future()
    hand.core.authenticate("second", done)
    assert greeted(hand) == Auth(AuthMethod.TOKEN, b"second")
    assert done.result() is None


@pytest.mark.parametrize("how", ["closed", "not admitted"])
def test_a_client_that_ends_ends_the_wait(how: str) -> None:
    hand, done = Hand(token=FIRST), Future()
    hand.core.authenticate("second", done)
    if how == "closed":
        hand.core.close()
    else:
        hand.connect()
        hand.say(Error(ErrorCode.AUTHENTICATION_FAILED, "no", 0x12, True))
        hand.core.cut("cut", hand.now)
    with pytest.raises(ClientClosed if how == "closed" else NotAdmitted):
        done.result()
    with pytest.raises((ClientClosed, NotAdmitted)):
        hand.core.authenticate("third", Future())


def test_a_router_of_an_earlier_version_gets_it_at_the_next_connection() -> None:
    hand = Hand(token=FIRST)
    greeted(hand)
    with pytest.raises(Refused, match=f"{NOT_AGAIN}; the token is for the next connection"):
        hand.core.authenticate("second", Future())
    assert hand.sent() == []
    hand.core.cut("cut", hand.now)
    assert greeted(hand) == Auth(AuthMethod.TOKEN, b"second")


@pytest.mark.parametrize("token", ["", "x" * 4_097, 5, None])
def test_what_can_be_no_token_is_refused_before_it_is_sent(token: object) -> None:
    hand = Hand(token=FIRST)
    greeted(hand, AUTH_AGAIN)
    with pytest.raises(Refused, match="token"):
        hand.core.authenticate(token, Future())
    assert hand.sent() == []


def test_one_token_at_a_time() -> None:
    hand = Hand(token=FIRST)
    greeted(hand, AUTH_AGAIN)
    hand.core.authenticate("second", Future())
    with pytest.raises(Refused, match="the token before has no answer yet"):
        hand.core.authenticate("third", Future())


# --- a function ----------------------------------------------------------------------------------------------------


class Issuer:
    """A function that returns signed tokens of `life_s`, and counts its calls."""

    def __init__(self, life_s: float = 600) -> None:
        self.life_s, self.calls = life_s, 0
        self.error: Exception | None = None

    def __call__(self) -> str:
        self.calls += 1
        if self.error is not None:
            raise self.error
        return signed(self.hand.unix_us / 1_000_000 + self.life_s)

    def opened(self, *capabilities: str) -> Hand:
        self.hand = Hand(token=self)
        greeted(self.hand, *capabilities)
        return self.hand


def test_a_token_of_a_function_is_renewed_before_its_end() -> None:
    issuer = Issuer()
    hand = issuer.opened(AUTH_AGAIN)
    for calls in (2, 3):
        assert hand.core.deadline <= hand.now + 540
        pass_s(hand, 539)
        assert auths(hand) == []
        pass_s(hand, 2)
        [auth] = auths(hand)
        assert auth == Auth(AuthMethod.JWT, signed(hand.unix_us / 1_000_000 + 600).encode())
        assert issuer.calls == calls
        hand.say(ACCEPTED)
    with pytest.raises(Refused, match="token= is a function"):
        hand.core.authenticate("other", Future())


def test_a_function_that_fails_or_whose_token_is_refused_is_called_again() -> None:
    issuer = Issuer(100)
    hand = issuer.opened(AUTH_AGAIN)
    issuer.error = OSError("no network")
    pass_s(hand, 81)
    assert auths(hand) == []
    assert any("there is no next token: OSError('no network')" in each for each in hand.core.notices)
    issuer.error = None
    pass_s(hand, 11)
    assert len(auths(hand)) == 1
    hand.say(WRONG)
    assert hand.core.notices[-1] == "the router refused the next token: NOT_ALLOWED (not valid)"
    pass_s(hand, 5)
    assert len(auths(hand)) == 1
    hand.say(ACCEPTED)
    pass_s(hand, 79)
    assert auths(hand) == []


def test_a_late_answer_does_not_make_the_client_busy() -> None:
    """Past the end, with a token that stays the same, there is one call a second."""
    issuer = Issuer(10)
    hand = issuer.opened(AUTH_AGAIN)
    issuer.life_s = -50
    pass_s(hand, 20)
    assert len(auths(hand)) == 1
    for _ in range(10):
        pass_s(hand, 0.05)
        assert auths(hand) == []
        assert hand.core.credential.due > hand.now
    hand.say(ACCEPTED)
    assert hand.core.credential.due >= hand.now + 1


def test_a_router_of_an_earlier_version_ends_the_connection_and_gets_the_next_token() -> None:
    issuer = Issuer()
    hand = issuer.opened()
    pass_s(hand, 590)
    assert hand.core.notices[-1] == f"{NOT_AGAIN}; the connection ends with its token"
    pass_s(hand, 10)
    hand.say(Error(ErrorCode.REVOKED, "the signed token of this connection has expired", 0, True))
    hand.core.cut("cut", hand.now)
    assert not hand.core.is_over
    assert greeted(hand).credential == signed(hand.unix_us / 1_000_000 + 600).encode()


def test_a_function_that_fails_at_a_greeting_ends_that_connection_only() -> None:
    issuer = Issuer()
    issuer.error = OSError("no network")
    hand = issuer.hand = Hand(token=issuer)
    hand.connect()
    hand.say(Welcome("rome", 1, bytes(16), 2, (), 1 << 20, 30_000, 0, METHODS))
    assert hand.core.wants_close
    hand.core.cut("cut", hand.now)
    assert "there is no token: OSError('no network')" in str(hand.core.redial.failures)
    issuer.error = None
    greeted(hand)


@pytest.mark.parametrize(
    ("token", "expiry"),
    [
        (signed(1_800_000_600), 1_800_000_600.0),
        (signed(2.5), 2.5),
        ("opaque", None),
        ("eyJhIjoxfQ.e30.c2ln", None),
        ("eyJhIjoxfQ.bm8.c2ln", None),
        ("eyJhIjoxfQ.W10.c2ln", None),
        (signed(True), None),
        (signed("soon"), None),
        (signed(1e300), None),
    ],
)
def test_the_end_that_a_token_says(token: str, expiry: float | None) -> None:
    assert expiry_of(token.encode()) == expiry
