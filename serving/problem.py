"""Problems: why a request is refused, as RFC 9457 shows it.

Law: the type of a problem is `urn:tamis:problem:KIND`. What cannot be said is left out, never null.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from tamis.protocol.errors import SyntaxRefused, TamisError

CONTENT_TYPE: Final = "application/problem+json"
TYPE: Final = "urn:tamis:problem:"

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """`kind`: the last part of the type; `title`: a phrase for all problems of this kind, else that of the status;
    `line` and `column` count from 1; `caret`: the line and below it a caret; `headers`: of the answer."""

    kind: str
    status: int
    detail: str
    title: str = ""
    line: int | None = None
    column: int | None = None
    caret: str = ""
    hint: str = ""
    headers: Headers = ()

    def form(self) -> dict[str, object]:
        """Return the problem as a JSON object."""
        said: dict[str, object] = {
            "type": f"{TYPE}{self.kind}",
            "title": self.title or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "line": self.line,
            "column": self.column,
            "caret": self.caret,
            "hint": self.hint,
        }
        return {key: value for key, value in said.items() if value not in (None, "")}

    def json(self) -> bytes:
        return json.dumps(self.form(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


class RequestRefused(TamisError):
    """Raised for a request that is answered with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def refused(kind: str, status: int, detail: str, headers: Headers = ()) -> RequestRefused:
    """Return the exception for a problem without a position."""
    return RequestRefused(Problem(kind, status, detail, headers=headers))


def problem_of(error: SyntaxRefused, kind: str, status: int = HTTPStatus.BAD_REQUEST) -> Problem:
    """Return the problem of a text that does not parse, with its position."""
    detail = f"line {error.line}, column {error.column}: {error.problem}"
    return Problem(kind, int(status), detail, "", error.line, error.column, error.caret, error.hint)
