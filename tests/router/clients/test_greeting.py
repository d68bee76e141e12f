"""The greeting without sockets: who gets in, and what everybody else is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.protocol.errors import FrameError, VersionRefused
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode, kind_of
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session import SessionState
from tamis.protocol.wire.session_bodies import Authenticated, AuthMethod, Error, Ping, Role, Welcome
from tamis.router.access.admitted import Admitted, Denial
from tamis.router.clients.greeting import AdmissionPolicy, Greeting
from tests.router.wire_client import auth, hello

RIGHT = Admitted(b"d" * 32)


def greeting(judge=None, newest=0) -> Greeting:
    return Greeting(AdmissionPolicy("rome", 5, 65_536, 9_000, 77, judge, lambda: b"n" * 16, lambda _: newest))


def say(it: Greeting, frame: object) -> object:
    answer = it.receive(encode(frame), kind_of(frame))
    return decode(answer) if answer else None


def test_without_tokens_everybody_comes_in():
    it = greeting()
    welcome = say(it, hello("alice"))
    assert welcome == Welcome("rome", 5, b"n" * 16, 1, (), 65_536, 9_000, 0, (AuthMethod.NONE,))
    assert it.admitted is None
    assert say(it, auth()) == Authenticated(b"", stable_number("alice"), 77)
    assert it.admitted == Admitted()
    assert it.session.state is SessionState.OPEN
    assert it.hello.name == "alice"


def test_with_tokens_only_with_the_right_one():
    asked = []

    def judge(name: str, token: bytes) -> Admitted | Denial:
        asked.append((name, token))
        return RIGHT if token == b"right" else Denial("somebody else's")

    it = greeting(judge)
    assert say(it, hello("alice")).methods == (AuthMethod.TOKEN,)
    with pytest.raises(FrameError) as caught:
        say(it, auth(b"wrong"))
    assert caught.value.code == ErrorCode.AUTHENTICATION_FAILED
    assert asked == [("alice", b"wrong")]
    assert it.admitted is None
    assert caught.value.problem == "somebody else's"
    it = greeting(judge)
    say(it, hello("alice"))
    assert isinstance(say(it, auth(b"right")), Authenticated)
    assert it.admitted is RIGHT


@pytest.mark.parametrize(("judge", "token"), [(None, b"token"), (lambda *_: RIGHT, b"")])
def test_a_method_that_was_not_offered(judge, token):
    it = greeting(judge)
    say(it, hello("alice"))
    with pytest.raises(FrameError, match="requires method") as caught:
        say(it, auth(token))
    assert caught.value.code == ErrorCode.AUTHENTICATION_FAILED


def test_a_name_whose_credential_is_not_checked_now_hears_so_at_its_hello():
    policy = greeting(lambda *_: RIGHT)._policy
    it = Greeting(replace(policy, slowed=lambda name: "too many" if name == "alice" else ""))
    with pytest.raises(FrameError, match="too many") as caught:
        say(it, hello("alice"))
    assert caught.value.code == ErrorCode.FULL
    it = Greeting(replace(policy, slowed=lambda name: "too many" if name == "alice" else ""))
    assert isinstance(say(it, hello("bob")), Welcome)


def test_no_version_in_common():
    with pytest.raises(VersionRefused, match="this side supports 1 to 3, the peer 4 to 5"):
        say(greeting(), hello("alice", version_low=4, version_high=5))


def test_a_router_is_not_a_client():
    with pytest.raises(FrameError, match="only clients connect here"):
        say(greeting(), hello("oslo", role=Role.ROUTER, link_cost=1))


@pytest.mark.parametrize(
    ("first", "wrong"), [([], Ping(1)), ([], auth()), ([hello("a")], Ping(1)), ([hello("a")], hello("a"))]
)
def test_who_does_not_take_turns(first, wrong):
    it = greeting()
    for frame in first:
        say(it, frame)
    with pytest.raises(FrameError) as caught:
        say(it, wrong)
    assert caught.value.code == ErrorCode.UNEXPECTED_KIND


def test_a_client_that_gives_up():
    it = greeting()
    assert say(it, Error(15, "", 0x11, True)) is None
    assert it.session.state is SessionState.CLOSED
    assert it.admitted is None


def test_a_hello_that_does_not_decode():
    with pytest.raises(FrameError) as caught:
        greeting().receive(b"\x09\0\0\0\x10\0\0\0\x90", FrameKind.HELLO)
    assert caught.value.code == ErrorCode.MALFORMED


@pytest.mark.parametrize(("version", "told"), [(1, 0), (2, 41)])
def test_who_speaks_version_2_hears_the_newest_counter_that_is_known(version, told):
    it = greeting(newest=41)
    say(it, replace(hello("alice"), version_high=version))
    assert it.version == version
    assert say(it, auth()).newest == told
