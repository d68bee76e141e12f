"""What an SQL filter expression of AMQP means, as RabbitMQ evaluates it: by descent; None is unknown."""

from __future__ import annotations

import math
import operator
import re

from tests.protocol.dialects.judges import jms

TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"""
    r"""|(?P<word>\[(?:[^\[\]]|\[\[|\]\])*\]|[A-Za-z][A-Za-z_-]*\.[A-Za-z]\w*|[A-Za-z]\w*)"""
    r"""|(?P<sign><>|!=|<=|>=|[-+*/%=<>(),]))"""
)
RESERVED = {"AND", "OR", "NOT", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE", "EXISTS"}
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}


def judge(text, event):
    return not text.strip() or Reader(text, event).whole() is True


def looked_up(event, name):
    """A value by its name in a filter, of an event whose sections are objects, or written into the names."""
    if name[0] == "[":
        return event.get(name[1:-1].replace("[[", "[").replace("]]", "]"))
    section, _, field = name.rpartition(".")
    if section in ("", "a", "application_properties"):
        return event.get(field)
    section = {"h": "header", "p": "properties"}.get(section, section)
    value = event.get(section, {}).get(field, event.get(f"{section}.{field}"))
    return 4 if value is None and section == "header" else value


class Reader(jms.Reader):
    """Logic, sums and the whole are as in a message selector."""

    def __init__(self, text, event):
        self.event, self.tokens, at = event, [], 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            kind, word = match.lastgroup, match[match.lastgroup]
            self.tokens.append(word if kind == "word" and word in RESERVED else (kind, word))
            at = match.end()

    def test(self):
        if self.take("EXISTS"):
            return self.signed() is not None
        value = self.sum()
        if sign := self.take("=", "<>", "!=", "<", "<=", ">", ">="):
            return compared(sign, value, self.sum())
        if self.take("IS"):
            negated = self.take("NOT")
            self.take("NULL")
            return (value is None) is not bool(negated)
        negated = self.take("NOT")
        found = self.rest_of_test(value)
        return found if not negated or found is None else not found

    def rest_of_test(self, value):
        if self.take("IN"):
            self.take("(")
            found = [compared("=", value, self.sum())]
            while self.take(","):
                found.append(compared("=", value, self.sum()))
            self.take(")")
            return None if value is None else True in found
        if self.take("LIKE"):
            pattern = self.text()
            escape = self.text() if self.take("ESCAPE") else None
            return jms.like(pattern, escape, value) if isinstance(value, str) else None
        return value

    def text(self):
        written = self.tokens.pop(0)[1]
        return written[1:-1].replace(written[0] * 2, written[0])

    def sum(self):
        value = self.product()
        while sign := self.take("+", "-"):
            value = worked_out(sign, value, self.product())
        return value

    def product(self):
        value = self.signed()
        while sign := self.take("*", "/", "%"):
            value = worked_out(sign, value, self.signed())
        return value

    def signed(self):
        if sign := self.take("-", "+"):
            return worked_out(sign, 0, self.signed())
        if self.take("("):
            value = self.any()
            assert self.take(")")
            return value
        if word := self.take("TRUE", "FALSE"):
            return word == "TRUE"
        kind, word = self.tokens[0]
        if kind == "text":
            return self.text()
        self.tokens.pop(0)
        return looked_up(self.event, word) if kind == "word" else int(word) if word.isdigit() else float(word)


def compared(sign, one, other):
    if one is None or other is None:
        return None
    if sign in ("<>", "!="):
        return not compared("=", one, other)
    numbers = jms.is_number(one) and jms.is_number(other)
    texts = isinstance(one, str) and isinstance(other, str)
    booleans = isinstance(one, bool) and isinstance(other, bool) and sign == "="
    return (numbers or texts or booleans) and COMPARE[sign](one, other)


def worked_out(sign, one, other):
    if not jms.is_number(one) or not jms.is_number(other):
        return None
    if sign != "%":
        return jms.worked_out(sign, one, other)
    if other == 0:
        return None
    if isinstance(one, int) and isinstance(other, int):
        return abs(one) % abs(other) * (1 if one >= 0 else -1)
    return math.fmod(one, other)
