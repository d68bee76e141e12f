"""Subjects of NATS subscriptions.

    a.b  subject = "a.b"    a.>  subject ^= "a."    a.*.c  subject/1 = "a" and subject/3 = "c" and no subject/4

Law: `>` stands for at least one token. Only a whole token is a wildcard: `a*` is a token like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.events import named_text
from tamis.protocol.dialects.patterns import Piece, Wild
from tamis.protocol.dialects.topics import levels, whole
from tamis.protocol.dialects.topics.lookalikes import warned
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Filter, Predicate
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import Value

SUBJECT: Final = "subject"
_ALL: Final = Predicate((Filter((levels.exists(SUBJECT),)),))
_BLANK: Final = re.compile(r"[ \t\r\n\f]")


def translate(text: str) -> Translated:
    found = warned(_subject(text), text, ".", "*", ">")
    return found if found.exact else whole.decided(found, SUBJECT, _parts(text), ".")


def _parts(text: str) -> list[Piece]:
    wild = {"*": (Wild.ONE,), ">": (Wild.ONE, Wild.ANY)}
    return [part for token in text.split(".") for part in wild.get(token, (token,))]


def _subject(text: str) -> Translated:
    tokens: list[str | None] = [*text.split(".")]
    blank = _BLANK.search(text)
    if blank is not None or "" in tokens or ">" in tokens[:-1]:
        raise _mistake(text, blank)
    if text == ">":
        return Translated(_ALL)
    open_end = tokens[-1] == ">"
    if not levels.is_short(text, limits.OPERAND_BYTES_MAX):
        return levels.beyond(SUBJECT, text, re.split(r"(?:^|\.)[*>](?:\.|$)", text, maxsplit=1)[0])
    if "*" not in tokens:
        return levels.branch(SUBJECT, text[:-2], ".", itself=False) if open_end else levels.whole(SUBJECT, text)
    parts = [None if token == "*" else token for token in tokens]  # noqa: S105 - a part of a subject
    if open_end:
        parts[-1] = None  # at least one more
    return levels.by_levels(SUBJECT, parts, open_end)


def attributes(event: str | Mapping[str, Any]) -> dict[str, Value]:
    """Return the attributes of a subject, or of an event with one and with headers: {"subject": ..., ...}."""
    subject, others = named_text(event, SUBJECT)
    tokens = subject.split(".")
    if "" in tokens or "*" in tokens or ">" in tokens or _BLANK.search(subject):
        raise Refused(f"{subject!r} is not a subject: tokens joined by dots, without blanks and wildcards")
    return {**others, SUBJECT: subject, **levels.attributes_of(SUBJECT, tokens)}


def _mistake(text: str, blank: re.Match[str] | None) -> SyntaxMistake:
    if blank is not None:
        return SyntaxMistake(blank.start(), "a subject has no blanks", "tokens are joined by `.`")
    at = 0
    for token in text.split("."):
        if not token:
            return SyntaxMistake(at, "a token of a subject is not empty", "`*` stands for one token, whatever it is")
        if token == ">" and at + 1 < len(text):  # noqa: S105 - a part of a subject
            return SyntaxMistake(at, "`>` must be the last token", "`*` stands for one token in the middle")
        at += len(token) + 1
    raise AssertionError("a valid subject has no mistake")


DIALECT: Final = Dialect("nats", "NATS subjects", translate, attributes)
