"""Answers as bytes: a whole answer, the head of a stream, a chunk.

Law: an answer has exactly one framing: Content-Length, or chunks, or the end of the connection for HTTP/1.0. Headers
that would break the head are a bug of the caller.
"""

from __future__ import annotations

import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Final, NamedTuple

from tamis.serving.problem import CONTENT_TYPE, Headers, Problem

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"
_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}
_BODILESS: Final = frozenset({204, 304})


class Answer(NamedTuple):
    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: Headers = ()


def problem_answer(problem: Problem) -> Answer:
    return Answer(problem.json(), problem.status, CONTENT_TYPE, problem.headers)


def written(answer: Answer, is_head: bool, closes: bool) -> bytes:
    """Return a whole answer as bytes; `is_head`: to a HEAD request, without its body."""
    body, status, content_type, headers = answer
    if status in _BODILESS:
        return _head(status, "", "", headers, closes)
    head = _head(status, content_type, f"Content-Length: {len(body)}\r\n", headers, closes)
    return head if is_head else head + body


def stream_head(status: int, content_type: str, headers: Headers, is_chunked: bool, closes: bool) -> bytes:
    framing = "Transfer-Encoding: chunked\r\n" if is_chunked else ""
    return _head(status, content_type, framing, headers, closes)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _head(status: int, content_type: str, framing: str, headers: Headers, closes: bool) -> bytes:
    others = _lines(headers) if headers else ""
    end = "Connection: close\r\n\r\n" if closes else "\r\n"
    return f"{_begin(status, content_type, int(time.time()))}{framing}{others}{end}".encode("latin-1", "replace")


@lru_cache(maxsize=64)
def _begin(status: int, content_type: str, now_s: int) -> str:
    own = (("Date", formatdate(now_s, usegmt=True)), *([("Content-Type", content_type)] if content_type else ()))
    return f"HTTP/1.1 {status} {_REASONS.get(status, '')}\r\n{_lines(own)}"


def _lines(headers: Headers) -> str:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers):
        raise ValueError("a header of an answer has a line break")
    return lines
