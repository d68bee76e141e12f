"""Who is let in, by which token and name, and what is said of it."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from tamis.cli.reach.admin_http import asked
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.session_bodies import Welcome
from tests.router.wire_client import WireClient, auth, hello

ONE = 'tokens: tokens\nrouters: {a: {clients: "127.0.0.1:0", admin: "unix:admin"}}'


@pytest.fixture
def tokens(tmp_path):
    """tokens(text): write the token file."""

    def write(text: str) -> None:
        (tmp_path / "tokens").write_text(text)
        (tmp_path / "tokens").chmod(0o600)
        os.utime(tmp_path / "tokens", ns=(1, time.time_ns()))

    return write


async def refused(where: str, name: str, token: bytes) -> tuple[int, str]:
    client = await WireClient.connect(where, name)
    await client.send(hello(name))
    if isinstance(first := await client.next(), Welcome):
        await client.send(auth(token))
        first = await client.next()
    await client.close()
    return first.code, first.text


def counted(router, **labels: str) -> int:
    page = asked(f"unix:{router.admin}", "GET", "/metrics", None)[1].decode()
    name = "tamis_admissions_refused_total" if "reason" in labels else "tamis_admissions_total"
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
    [line] = [line for line in page.splitlines() if line.startswith(f"{name}{{{inside}}}")]
    return int(line.split()[-1])


@pytest.mark.slow  # in test_tokens.py without a daemon
async def test_the_token_of_anybody_opens_no_name_with_a_line(process, tokens):
    tokens("press-1 A\n* B\n")
    router = process(ONE)
    owner = await WireClient.greeted(router.where, "press-1", b"A")
    code, _ = await refused(router.where, "press-1", b"B")
    assert code == ErrorCode.AUTHENTICATION_FAILED
    await WireClient.greeted(router.where, "press-2", b"B")
    assert (await owner.subscribe(1, "x = 1")).ranges, "the owner is in as before"


@pytest.mark.slow
async def test_who_comes_is_logged_and_counted(process, tokens):
    tokens("press-1 A\n")
    router = process(ONE)
    await WireClient.greeted(router.where, "press-1", b"A")
    await refused(router.where, "press-1", b"wrong")
    code, text = await refused(router.where, "\x1b]0;owned\x07", b"A")
    assert code == ErrorCode.AUTHENTICATION_FAILED
    assert "control character" in text
    [came] = [line for line in router.logged() if line["message"] == "admitted"]
    assert (came["side"], came["name"], came["method"]) == ("client", "press-1", "token")
    wrong, named = [line for line in router.logged() if line["message"] == "not admitted"]
    assert (wrong["name"], wrong["why"], wrong["method"]) == ("press-1", "credential", "token")
    assert wrong["peer"].startswith("127.0.0.1:")
    assert (named["name"], named["why"]) == ("\x1b]0;owned\x07", "name")
    assert "\x1b" not in router.errors
    assert counted(router, side="client") == 1
    assert counted(router, side="client", reason="credential") == counted(router, side="client", reason="name") == 1


@pytest.mark.slow
async def test_wrong_tokens_slow_their_address_and_fill_no_disk(process, tokens):
    tokens("press-1 A\n")
    router = process(ONE)
    assert await asyncio.to_thread(_lets_in_from, router.where, "127.0.0.9")
    end, codes = time.monotonic() + 4, []
    while time.monotonic() < end:
        codes.append((await refused(router.where, "press-1", b"wrong"))[0])
    tries = codes.count(ErrorCode.AUTHENTICATION_FAILED)
    assert 7 <= tries <= 8, "five, then one more after 1 s and after 2 s"
    assert set(codes) == {ErrorCode.AUTHENTICATION_FAILED, ErrorCode.FULL}
    began = time.monotonic()
    assert await asyncio.to_thread(_lets_in_from, router.where, "127.0.0.9"), "its own address does not wait"
    assert time.monotonic() - began < 0.5
    assert (await refused(router.where, "press-1", b"A"))[0] == ErrorCode.FULL
    await asyncio.gather(*(refused(router.where, f"\x1b{number}", b"A") for number in range(100)))
    lines = [line for line in router.logged() if line["message"] == "not admitted"]
    assert len(lines) <= tries + 40
    assert counted(router, side="client", reason="name") == 100


def _lets_in_from(where: str, source: str) -> bool:
    from tests.router import flood

    return flood.greets(int(where.rpartition(":")[2]), "press-1", "A", source=source)


async def test_a_greeting_that_is_denied_ends_the_sessions_of_tokens_that_are_gone(inside, tokens, tmp_path):
    """Whoever reads the changed file first, it takes effect for all."""
    tokens("gone A\nsame C\n")
    clients = inside(f"tokens: {tmp_path}/tokens")
    gone = await WireClient.greeted(clients.where, "gone", b"A")
    same = await WireClient.greeted(clients.where, "same", b"C")
    tokens("same C\n")
    code, _ = await refused(clients.where, "gone", b"A")
    assert code == ErrorCode.AUTHENTICATION_FAILED
    [error] = await gone.until_closed()
    assert (error.code, error.fatal) == (ErrorCode.REVOKED, True)
    assert (await same.subscribe(1, "x = 1")).ranges


@pytest.mark.slow
@pytest.mark.parametrize("by_signal", [True, False])
async def test_a_token_that_is_gone_ends_its_sessions(process, tokens, by_signal):
    tokens("gone A\nchanged B\nsame C\n* D\n")
    router = process(ONE)
    gone, changed, same, anybody = [
        await WireClient.greeted(router.where, name, token)
        for name, token in (("gone", b"A"), ("changed", b"B"), ("same", b"C"), ("taken", b"D"))
    ]
    tokens("changed B2\nsame C\ntaken E\n* D\nnew F\n")
    if by_signal:
        router.signal(signal.SIGHUP)
    else:
        await WireClient.greeted(router.where, "new", b"F")
    for client in (gone, changed, anybody):
        [error] = await client.until_closed()
        assert (error.code, error.fatal) == (ErrorCode.REVOKED, True)
    assert (await same.subscribe(1, "x = 1")).ranges
