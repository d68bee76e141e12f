"""Requests from bytes: what is read, and what is refused because two readers could read it differently."""

from __future__ import annotations

import random

import pytest

from tamis.serving.problem import RequestRefused
from tamis.serving.request_reader import (
    CHUNK_LINE_BYTES_MAX,
    CHUNKS_MAX,
    FIELDS_MAX,
    HEAD_BYTES_MAX,
    PIECE_BYTES_MAX,
    TRAILER_BYTES_MAX,
    End,
    Head,
    RequestReader,
)

LINE = b"POST /x HTTP/1.1\r\nHost: a\r\n"


def read(*pieces: bytes) -> list[tuple[Head, bytes]]:
    """The requests in `pieces`, each with its body; the last one may be unfinished."""
    reader, found, body = RequestReader(), [], bytearray()
    for piece in pieces:
        reader.feed(piece)
        while (event := reader.next()) is not None:
            if isinstance(event, Head):
                head = event
                body.clear()
                if head.length == 0:
                    found.append((head, b""))
            elif event is End.OF_BODY:
                found.append((head, bytes(body)))
            else:
                body += event
    return found


def test_a_head_and_its_body() -> None:
    [(head, body)] = read(
        b"PUT /a?b=c HTTP/1.1\r\nHOST: x:1\r\nAccept: a\r\naccept:b \t\r\nContent-Length: 3\r\n\r\nabc"
    )
    assert (head.method, head.target, body) == ("PUT", "/a?b=c", b"abc")
    assert head.headers == {"host": "x:1", "accept": "a, b", "content-length": "3"}
    assert (head.length, head.is_old, head.keeps_open, head.expects_continue) == (3, False, True, False)


def test_requests_cut_anywhere_are_the_same() -> None:
    sent = (
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" + LINE + b"Transfer-Encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\n0a;x=y\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n" + LINE + b"Content-Length: 4\r\n\r\nwxyz"
    )
    whole = read(sent)
    assert [body for _, body in whole] == [b"", b"abc0123456789", b"wxyz"]
    assert read(*(sent[i : i + 1] for i in range(len(sent)))) == whole
    chance = random.Random(5)
    for _ in range(100):
        at = chance.randrange(len(sent))
        assert read(sent[:at], sent[at:]) == whole


def test_one_call_reads_one_bounded_piece() -> None:
    reader = RequestReader()
    reader.feed(LINE + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 1_000 + b"0\r\n\r\n")
    assert isinstance(reader.next(), Head)
    sizes = []
    while (event := reader.next()) is not End.OF_BODY:
        sizes.append(len(event))
    assert (max(sizes), sum(sizes)) == (CHUNKS_MAX, 1_000)
    reader.feed(LINE + b"Content-Length: 200000\r\n\r\n" + bytes(200_000))
    assert isinstance(reader.next(), Head)
    assert len(reader.next()) == PIECE_BYTES_MAX


@pytest.mark.parametrize(
    ("head", "keeps_open"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", False),
    ],
)
def test_who_keeps_its_connection(head: bytes, keeps_open: bool) -> None:
    [(found, _)] = read(head)
    assert found.keeps_open is keeps_open


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"\x16\x03\x01", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
        (b"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
        (LINE + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400),
        (LINE + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\na", 400),
        (LINE + b"Content-Length: 1, 1\r\n\r\na", 400),
        (LINE + b"Content-Length: +1\r\n\r\na", 400),
        (LINE + b"Content-Length: 0x1\r\n\r\na", 400),
        (LINE + b"Content-Length:\r\n\r\na", 400),
        (LINE + b"Content-Length: " + b"9" * 19 + b"\r\n\r\na", 400),
        (LINE + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na", 400),
        (LINE + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\na", 400),
        (LINE + b"Transfer-Encoding: gzip\r\n\r\na", 400),
        (LINE + b"Transfer-Encoding: gzip, chunked\r\n\r\na", 501),
        (LINE + b"Transfer-Encoding: chunked, chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (LINE + b"Transfer-Encoding : chunked\r\n\r\n", 400),
        (LINE + b"Transfer-Encoding: chunked\n\r\n\r\n", 400),
        (LINE + b"A: b\r\n c\r\n\r\n", 400),
        (LINE + b"A: b\nB: c\r\n\r\n", 400),
        (LINE + b"A: b\rB: c\r\n\r\n", 400),
        (LINE + b"A: b\x00\r\n\r\n", 400),
        (LINE + b"A b\r\n\r\n", 400),
        (LINE + b": b\r\n\r\n", 400),
        (LINE + b"A\xc3: b\r\n\r\n", 400),
        (LINE + b"Expect: more\r\n\r\n", 417),
        (b"GET /" + b"x" * HEAD_BYTES_MAX, 431),
        (b"GET /" + b"x" * HEAD_BYTES_MAX + b" HTTP/1.1\r\nHost: a\r\n\r\n", 431),
        (LINE + b"A: b\r\n" * FIELDS_MAX + b"\r\n", 431),
    ],
)
def test_a_head_that_is_refused(sent: bytes, status: int) -> None:
    with pytest.raises(RequestRefused) as caught:
        read(sent)
    assert caught.value.problem.status == status


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x\r\n", 400),
        (b"-1\r\n", 400),
        (b"0x1\r\na\r\n", 400),
        (b" 1\r\na\r\n", 400),
        (b"1 \r\na\r\n", 400),
        (b"1\r\nab\r\n", 400),
        (b"1\r\na0\r\n\r\n", 400),
        (b"1\na\n0\n\n" + b"x" * CHUNK_LINE_BYTES_MAX, 400),
        (b"1;" + b"x" * (CHUNK_LINE_BYTES_MAX + 2), 400),
        (b"1;a\x00\r\n", 400),
        (b"f" * 16 + b"\r\n", 400),
        (b"0\r\nA b\r\n\r\n", 400),
        (b"0\r\nContent-Length: 4\r\n\r\n", 400),
        (b"0\r\n" + b"A: b\r\n" * TRAILER_BYTES_MAX, 431),
    ],
)
def test_chunks_that_are_refused(body: bytes, status: int) -> None:
    with pytest.raises(RequestRefused) as caught:
        read(LINE + b"Transfer-Encoding: chunked\r\n\r\n" + body)
    assert caught.value.problem.status == status
    with pytest.raises(RequestRefused):  # and byte by byte
        read(LINE + b"Transfer-Encoding: chunked\r\n\r\n", *(body[i : i + 1] for i in range(len(body))))


def test_a_head_that_drips_is_searched_once() -> None:
    reader = RequestReader()
    for _ in range(HEAD_BYTES_MAX - 4):
        reader.feed(b"G")
        assert reader.next() is None
    reader.feed(b"G")
    with pytest.raises(RequestRefused):
        reader.next()
