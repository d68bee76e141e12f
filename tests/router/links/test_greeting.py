"""Two routers greet: both ends without a socket between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.protocol.errors import FrameError, VersionRefused
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import KIND_OFFSET
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session import SessionState
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Error, Ping, Role, Welcome
from tamis.router.links.greeting import Accepting, Dialling, ExpectedNeighbour, Greeted, LocalIdentity
from tests.router.wire_client import hello

SECRET = b"a secret of a link"


def myself(name: str, epoch: int = 1) -> LocalIdentity:
    return LocalIdentity(name, epoch, 100_000, bytes([epoch]) * 16)


def expected(name: str, secret: bytes | None = None) -> ExpectedNeighbour:
    return ExpectedNeighbour(name, 3, 700, secret)


def no_problem(_: Greeted) -> None:
    pass


def accepting(name: str = "b", secret: bytes | None = None, **more) -> Accepting:
    admit = more.pop("admit", no_problem)
    return Accepting(myself(name, 2), lambda said: expected(said, secret), admit, **more)


def say(end: Dialling | Accepting, frame: bytes) -> bytes:
    return end.receive(frame, FrameKind(frame[KIND_OFFSET]))


def shake(a: Dialling, b: Accepting) -> None:
    frame, other = a.begin(), b
    while frame:
        frame, other = say(other, frame), a if other is b else b


@pytest.mark.parametrize("secret", [None, SECRET])
def test_both_ends_learn_what_the_other_says(secret):
    a, b = Dialling(myself("a"), expected("b", secret)), accepting(secret=secret)
    shake(a, b)
    assert a.other == Greeted(
        "b",
        2,
        100_000,
        700,
        3,
        3,
        takes_route=True,
        takes_set=True,
        takes_tree=True,
        takes_keys=True,
        knows_durables=True,
    )
    assert b.other == Greeted(
        "a",
        1,
        100_000,
        700,
        3,
        3,
        takes_route=True,
        takes_set=True,
        takes_tree=True,
        takes_keys=True,
        knows_durables=True,
    )
    assert a.session.state is b.session.state is SessionState.OPEN


def refused(a: Dialling, b: Accepting, match: str, code: int = ErrorCode.AUTHENTICATION_FAILED) -> None:
    with pytest.raises(FrameError, match=match) as caught:
        shake(a, b)
    assert caught.value.code == code
    assert a.other is None
    assert b.other is None


def test_a_wrong_secret_is_refused_by_who_accepts():
    refused(Dialling(myself("a"), expected("b", SECRET)), accepting(secret=SECRET + b"!"), "a does not know the secret")


def test_who_accepts_has_to_prove_the_secret_too():
    a, b = Dialling(myself("a"), expected("b", SECRET)), accepting(secret=SECRET)
    say(a, say(b, a.begin()))
    with pytest.raises(FrameError, match="b does not know the secret"):
        say(a, encode(Authenticated(bytes(32), 1, 0)))
    assert a.other is None


@pytest.mark.parametrize(("ours", "theirs"), [(SECRET, None), (None, SECRET)])
def test_a_secret_at_one_end_only(ours, theirs):
    refused(Dialling(myself("a"), expected("b", ours)), accepting(secret=theirs), "give both ends the same `secret`")


def test_a_method_that_was_not_offered():
    b = accepting(secret=SECRET)
    say(b, Dialling(myself("a"), expected("b", SECRET)).begin())
    with pytest.raises(FrameError, match="give both ends"):
        say(b, encode(Auth(AuthMethod.NONE, b"")))


def test_another_router_answers():
    refused(Dialling(myself("a"), expected("b")), accepting("c"), "expected b here, but c replied")


def test_this_router_itself_answers():
    refused(Dialling(myself("a"), expected("b")), accepting("a"), "a is this router itself")
    a = Dialling(myself("a"), expected("b"))
    a.begin()
    welcome = Welcome("a", 1, bytes(16), 1, (), 100_000, 700, 3, (0,))
    with pytest.raises(FrameError, match="expected b here, but this router itself replied"):
        say(a, encode(welcome))


def test_who_is_no_neighbour():
    def nobody(name: str) -> ExpectedNeighbour:
        raise FrameError(ErrorCode.AUTHENTICATION_FAILED, f"{name} is no neighbour of b")

    refused(Dialling(myself("a"), expected("b")), Accepting(myself("b"), nobody, no_problem), "a is no neighbour of b")


def test_who_may_not_come_in_now():
    def older(other: Greeted) -> None:
        raise FrameError(ErrorCode.REPLACED, f"a later start of {other.name} is linked")

    b = accepting(admit=older)
    refused(Dialling(myself("a"), expected("b")), b, "a later start of a is linked", ErrorCode.REPLACED)


@pytest.mark.parametrize(("names", "is_let_in"), [({"a", "x"}, True), ({"x"}, False), (set(), False)])
def test_the_certificate_has_to_have_the_name(names, is_let_in):
    a, b = Dialling(myself("a"), expected("b")), accepting(certified=frozenset(names))
    if is_let_in:
        shake(a, b)
        assert b.other is not None
    else:
        refused(a, b, f"not that of a; its names are {'x' if names else 'none'}")
    refused(
        Dialling(myself("a"), expected("b"), frozenset({"a"})),
        accepting(),
        "the certificate is not that of b; its names are a",
    )


def test_no_version_in_common():
    b = accepting()
    with pytest.raises(VersionRefused, match="this side supports 1 to 3, the peer 4 to 5"):
        say(b, encode(hello("a", role=Role.ROUTER, link_cost=1, version_low=4, version_high=5)))
    a = Dialling(myself("a"), expected("b"))
    welcome = Welcome("b", 1, bytes(16), 4, (), 100_000, 700, 3, (0,))
    a.begin()
    with pytest.raises(FrameError, match="this router speaks 1 to 3, not 4"):
        say(a, encode(welcome))
    a = Dialling(myself("a"), expected("b"))
    a.begin()
    with pytest.raises(FrameError, match="must state the cost"):
        say(a, encode(replace(welcome, version=1, link_cost=0)))


def test_a_client_is_not_a_neighbour():
    with pytest.raises(FrameError, match="only neighbours connect here"):
        say(accepting(), encode(hello("a")))


@pytest.mark.parametrize("frame", [Ping(1), hello("b", role=Role.ROUTER, link_cost=1), Authenticated(b"", 1, 0)])
def test_who_does_not_take_turns(frame):
    a = Dialling(myself("a"), expected("b"))
    a.begin()
    with pytest.raises(FrameError) as caught:
        say(a, encode(frame))
    assert caught.value.code == ErrorCode.UNEXPECTED_KIND


def test_a_proof_is_good_for_one_greeting_only():
    first, second = accepting(secret=SECRET), Accepting(myself("b", 9), lambda said: expected(said, SECRET), no_problem)
    a = Dialling(myself("a"), expected("b", SECRET))
    greeting = a.begin()
    auth = say(a, say(first, greeting))
    say(second, greeting)
    with pytest.raises(FrameError, match="does not know the secret"):
        say(second, auth)


def test_an_error_gets_no_answer():
    b = accepting()
    say(b, Dialling(myself("a"), expected("b")).begin())
    assert say(b, encode(Error(16, "no", 0, True))) == b""
    assert b.session.state is SessionState.CLOSED
    assert isinstance(decode(Dialling(myself("a"), expected("b")).begin()).name, str)
