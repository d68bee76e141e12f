"""Answers of administration: one body, or a page of a list.

Law: a page has at most PAGE_BYTES and takes about PAGE_S of this thread's CPU: a list ends when either is used up, and
has the position of the next page. A single item that is longer than a page is cut.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Final

from tamis.serving.answers import Answer
from tamis.serving.problem import Headers, Problem, RequestRefused

PAGE_BYTES: Final = 256 * 1024
PAGE_S: Final = 0.015
"""Seconds of CPU for one page: with its last item a page stays below 20 ms."""
HEAD_BYTES: Final = 1_024
"""Bytes of a page reserved for the fields around its items."""
TEXT_CUT: Final = 16_384
"""Characters shown of a text that is too long for a page."""


class BadRequest(RequestRefused):
    """Raised for a request that is refused."""

    def __init__(self, status: int, what: str, headers: Headers = ()) -> None:
        super().__init__(Problem("administration", status, what, headers=headers))


def refusal(problem: Problem) -> Answer:
    """Return the answer of administration to a request that is refused."""
    return json_answer({"error": problem.detail}, problem.status)._replace(headers=problem.headers)


def json_answer(value: object, status: int = 200) -> Answer:
    return Answer(json.dumps(value).encode() + b"\n", status)


class Budget:
    """The CPU time of one page, which starts now."""

    def __init__(self, seconds: float = PAGE_S) -> None:
        self._end_s = time.thread_time() + seconds

    @property
    def is_spent(self) -> bool:
        return time.thread_time() >= self._end_s


class Items:
    """A list that grows until its page is full; it holds at least one item."""

    def __init__(self, limit: int, budget: Budget, bytes_max: int = PAGE_BYTES - HEAD_BYTES) -> None:
        self._limit, self._budget, self._bytes_max = limit, budget, bytes_max
        self._texts: list[str] = []
        self._size = 0
        self._is_full = False

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def is_full(self) -> bool:
        return self._is_full or len(self._texts) >= self._limit or (bool(self._texts) and self._budget.is_spent)

    def add(self, form: dict[str, object]) -> bool:
        """Append an item; return False if it has no room and begins the next page."""
        text = json.dumps(form)
        if len(text) > self._bytes_max:
            text = json.dumps(_cut(form))
        if self._size + len(text) > self._bytes_max:
            self._is_full = True
            return False
        self._texts.append(text)
        self._size += len(text) + 2
        return True

    def page(self, name: str, beside: Mapping[str, Items] | None = None, /, **around: object) -> Answer:
        """Return the page: the fields `around`, the lists `beside`, and all items as the field `name`."""
        head = json.dumps(around)[:-1]
        comma = ", " if around else ""
        lists = {**(beside or {}), name: self}
        texts = (f'"{key}": [{", ".join(items._texts)}]' for key, items in lists.items())
        return Answer(f"{head}{comma}{', '.join(texts)}}}\n".encode())


def _cut(form: dict[str, object]) -> dict[str, object]:
    """Return `form` with long texts and lists cut, and their lengths added."""
    cut: dict[str, object] = {}
    for key, value in form.items():
        if isinstance(value, str | list) and len(value) > TEXT_CUT // (1 if isinstance(value, str) else 16):
            cut[key] = value[: TEXT_CUT // (1 if isinstance(value, str) else 16)]
            cut[f"{key}_length"] = len(value)
        else:
            cut[key] = value
    return cut | {"cut": True}
