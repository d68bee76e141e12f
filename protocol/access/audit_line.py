"""The chain of an audit log: the digest that a line has of the line before it, and the names of its files.

    {"n": 7, "before": "5d0b...", "at": 1764198000.125, "kind": "refused", "principal": "press-1", ...}

Law: `before` is the BLAKE2b digest (16 bytes, hexadecimal) of the bytes of the line before, without its line end; that
of line 1 is of no bytes. Lines are numbered from 1 without gaps, also across files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

FILE_FORM: Final = re.compile(r"audit-[0-9]{12}\.jsonl")
_DIGEST_BYTES: Final = 16


def digest_of(line: bytes) -> str:
    """Return the digest of a line, without its line end."""
    return hashlib.blake2b(line, digest_size=_DIGEST_BYTES).hexdigest()


GENESIS: Final = digest_of(b"")


def file_name(number: int) -> str:
    """Return the name of a file; they sort as they were begun."""
    return f"audit-{number:012}.jsonl"


class Verified(NamedTuple):
    """The result for all lines of a log. `removed`: lines before the first, which the bound of bytes has removed;
    `problem`: the first thing wrong, after its place; "" if nothing is."""

    lines: int
    removed: int
    last: str
    problem: str = ""


def verified(files: Iterable[tuple[str, Iterable[bytes]]]) -> Verified:
    """Return whether lines, of files in the order of their names, are one chain."""
    count, removed, before, number = 0, 0, GENESIS, 0
    for name, lines in files:
        for at, ended in enumerate(lines, 1):
            line = ended.removesuffix(b"\n")
            found = _chained(line)
            problem = ""
            if not ended.endswith(b"\n") or found is None:
                problem = "is no whole line of an audit log"
            elif count == 0 and found[0] > 1:
                removed = found[0] - 1
            elif found[0] != number + 1:
                problem = f"has number {found[0]} after {number}: lines are missing or repeated"
            elif found[1] != before:
                problem = "does not follow the line before it: one of the two was changed"
            if problem or found is None:
                return Verified(count, removed, before, f"{name}:{at}: {problem}")
            count, number, before = count + 1, found[0], digest_of(line)
    return Verified(count, removed, before)


def _chained(line: bytes) -> tuple[int, str] | None:
    """Return number and digest of a line; None if it is none of an audit log."""
    try:
        form = json.loads(line)
        number, before = form["n"], form["before"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_one = isinstance(number, int) and not isinstance(number, bool) and number > 0 and isinstance(before, str)
    return (number, before) if is_one else None
