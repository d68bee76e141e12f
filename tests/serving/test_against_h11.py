"""A second reader: whatever our reader takes, h11 reads as the same requests. Where ours refuses more, that is counted.

Two readers that differ about where a request ends let a stranger smuggle one (a proxy before a gateway reads one, the
gateway another)."""

from __future__ import annotations

import random
import re
from collections import Counter

import h11
import pytest

from tamis.serving.problem import RequestRefused
from tamis.serving.request_reader import End, Head, RequestReader

Requests = list[tuple[str, str, dict[str, str], bytes]]

SEEDS = [
    b"GET /v1/messages?where=a%20%3D%201 HTTP/1.1\r\nHost: localhost:8080\r\nAccept: text/event-stream\r\n\r\n",
    b'POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"x": [1]}\n',
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;a=b\r\nxyz\r\n0\r\nX: y\r\n\r\n",
    b"GET /v1/socket HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: a\r\nOrigin: https://b\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n",
    b"PUT /x HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc",
    b"HEAD / HTTP/1.1\r\nhost:a\r\nX-Empty:\r\nX-Tab:\ta\tb\t\r\n\r\n",
    b"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
]
PARTS = [
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b"\t",
        b"\x00",
        b"\x0b",
        b"\x7f",
        b"\x80",
        b":",
        b";",
        b",",
        b"0",
        b"1",
        b"a",
        b"\r\n ",
    ),
    *(b"Content-Length: 3\r\n", b"Content-Length: 03\r\n", b"Content-Length:\t3\t\r\n", b"Content-Length: 3, 3\r\n"),
    *(b"Content-Length: -1\r\n", b"Content-Length: +3\r\n", b"content-length : 3\r\n", b"Content-Length: 0x3\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: CHUNKED\r\n", b"Transfer-Encoding: gzip\r\n"),
    *(b"Transfer-Encoding: \x0bchunked\r\n", b"Transfer-Encoding: identity\r\n", b"TE: chunked\r\n", b"X: y\r\n"),
    *(b"Transfer-Encoding: chunked, identity\r\n", b"Transfer-Encoding:\r\n chunked\r\n", b"Connection: close\r\n"),
    *(
        b"Host: b\r\n",
        b"Upgrade: h2c\r\n",
        b"0\r\n\r\n",
        b"\r\n\r\n",
        b"3\r\nabc\r\n",
        b"GET / HTTP/1.1\r\nHost: c\r\n\r\n",
    ),
    *(
        b"HTTP/1.1",
        b"HTTP/1.0",
        b"HTTP/2.0",
        b"HTTP/1.10",
        b"get",
        b"CONNECT",
        b"fffffffffffffffff\r\n",
        b'3;a="\r\n"\r\n',
    ),
]
ROUNDS = 20_000
BARE_LF = re.compile(rb"(?<!\r)\n")


def ours(data: bytes) -> tuple[Requests, bool]:
    """The finished requests that our reader finds, and whether it has refused what follows."""
    reader, found = RequestReader(), []
    reader.feed(data)
    try:
        while (event := reader.next()) is not None:
            if isinstance(event, Head):
                head, body = event, bytearray()
            if event is End.OF_BODY or head.length == 0:
                if "transfer-encoding" in head.headers:  # h11 has it in lower case
                    head.headers["transfer-encoding"] = head.headers["transfer-encoding"].lower()
                found.append((head.method, head.target, head.headers, bytes(body)))
                if not head.keeps_open:
                    break
            elif isinstance(event, bytes):
                body += event
    except RequestRefused:
        return found, True
    return found, False


def theirs(data: bytes) -> tuple[Requests, bool]:
    """The same by h11."""
    found: Requests = []
    reader = h11.Connection(h11.SERVER)
    reader.receive_data(data)
    try:
        while True:
            event = reader.next_event()
            if isinstance(event, h11.Request):
                head, body = event, bytearray()
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                headers: dict[str, str] = {}
                for name, value in head.headers:
                    key, text = name.decode(), value.decode("latin-1")
                    headers[key] = f"{headers[key]}, {text}" if key in headers else text
                found.append((head.method.decode(), head.target.decode(), headers, bytes(body)))
                reader.send(h11.Response(status_code=404, headers=[("Content-Length", "0")]))
                reader.send(h11.EndOfMessage())
                if reader.our_state is h11.MUST_CLOSE:
                    break
                reader.start_next_cycle()
            else:
                break
    except h11.RemoteProtocolError:
        return found, True
    return found, False


def mutated(chance: random.Random) -> bytes:
    data = bytearray(b"".join(chance.choice(SEEDS) for _ in range(chance.randrange(1, 4))))
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                data[at:at] = chance.choice(PARTS)
            case 1:
                del data[at : at + chance.choice((1, 1, 2, 5))]
            case 2:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 3:  # at the end of a line, where headers begin
                ends = [i + 2 for i in range(len(data)) if data[i : i + 2] == b"\r\n"]
                if ends:
                    at = chance.choice(ends)
                    data[at:at] = chance.choice(PARTS)
            case 4:
                data[at : at + chance.randrange(1, 9)] = chance.choice(PARTS)
    return bytes(data)


def differs(data: bytes) -> str:
    """Why the readers differ about `data`: "" if they agree, `stricter` if ours refuses more, else what is wrong."""
    (our, refused), (their, theirs_refused) = ours(data), theirs(data)
    if our != their[: len(our)]:
        return f"{data!r}: {our} is not {their}"
    if len(our) < len(their):
        waits = BARE_LF.search(data)  # h11 ends a head at it; ours waits until its time is over
        return "stricter" if refused or waits else f"{data!r}: ours waits behind {our}, theirs goes on to {their}"
    return "stricter" if refused and not theirs_refused else ""


@pytest.mark.parametrize("seed", SEEDS)
def test_the_seeds_are_read_by_both(seed: bytes) -> None:
    found, refused = ours(seed)
    assert (len(found), refused, found) == (1, False, theirs(seed)[0])


@pytest.mark.parametrize("seed", range(4))
def test_what_ours_takes_is_the_same_to_h11(seed: int) -> None:
    chance, counts = random.Random(seed), Counter[str]()
    for _ in range(ROUNDS // 40):
        counts[differs(mutated(chance))] += 1
    assert {*counts} <= {"", "stricter"}
    assert counts[""] > counts["stricter"] > 0


@pytest.mark.slow
def test_what_ours_takes_is_the_same_to_h11_at_length() -> None:
    chance, counts = random.Random(), Counter[str]()
    for _ in range(ROUNDS):
        counts[differs(mutated(chance))] += 1
    assert {*counts} <= {"", "stricter"}
