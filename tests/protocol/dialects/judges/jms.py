"""What a message selector of JMS means: a parser by descent, and one value for each part; None is unknown."""

from __future__ import annotations

import operator
import re

TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>\d+\.?\d*)|(?P<word>[A-Za-z_$][\w$]*)|(?P<sign><>|<=|>=|[-+*/=<>(),]))"
)
ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
RESERVED = {"AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE"}


class Written(int):
    """An integer of the selector: the division of two of them is Java's."""


def judge(text, event):
    return not text.strip() or Reader(text, event).whole() is True


class Reader:
    def __init__(self, text, event):
        self.event = {name: value for name, value in event.items() if value is not None}
        self.tokens, at = [], 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            kind, word = match.lastgroup, match[match.lastgroup]
            self.tokens.append(word.upper() if kind == "word" and word.upper() in RESERVED else (kind, word))
            at = match.end()

    def whole(self):
        value = self.any()
        assert not self.tokens
        return value

    def take(self, *words):
        front = self.tokens[0] if self.tokens else None
        name = front[1] if isinstance(front, tuple) and front[0] == "sign" else front
        return self.tokens.pop(0) and name if name in words else None

    def any(self):
        value = self.all()
        while self.take("OR"):
            value, other = truth(value), truth(self.all())
            value = True if True in (value is True, other is True) else None if None in (value, other) else False
        return value

    def all(self):
        value = self.negation()
        while self.take("AND"):
            value, other = truth(value), truth(self.negation())
            false = value is False or other is False
            value = False if false else None if value is None or other is None else True
        return value

    def negation(self):
        if self.take("NOT"):
            value = truth(self.negation())
            return None if value is None else not value
        return self.test()

    def test(self):
        value = self.sum()
        if sign := self.take("=", "<>", "<", "<=", ">", ">="):
            return compared(sign, value, self.sum())
        if self.take("IS"):
            negated = self.take("NOT")
            self.take("NULL")
            return (value is None) is not bool(negated)
        negated = self.take("NOT")
        found = self.rest_of_test(value)
        return found if not negated or found is None else not found

    def rest_of_test(self, value):
        if self.take("BETWEEN"):
            low = self.sum()
            assert self.take("AND")
            parts = [compared(">=", value, low), compared("<=", value, self.sum())]
            return False if False in parts else None if None in parts else True
        if self.take("IN"):
            self.take("(")
            texts = [self.text()]
            while self.take(","):
                texts.append(self.text())
            self.take(")")
            return None if value is None else isinstance(value, str) and value in texts
        if self.take("LIKE"):
            pattern = self.text()
            escape = self.text() if self.take("ESCAPE") else None
            return None if value is None else isinstance(value, str) and like(pattern, escape, value)
        return value

    def text(self):
        return self.tokens.pop(0)[1][1:-1].replace("''", "'")

    def sum(self):
        value = self.product()
        while sign := self.take("+", "-"):
            value = worked_out(sign, value, self.product())
        return value

    def product(self):
        value = self.signed()
        while sign := self.take("*", "/"):
            value = worked_out(sign, value, self.signed())
        return value

    def signed(self):
        if self.take("-"):
            return worked_out("-", Written(0), self.signed())
        if self.take("+"):
            return worked_out("+", Written(0), self.signed())
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
        return self.event.get(word) if kind == "word" else float(word) if "." in word else Written(word)


def truth(value):
    """A value as a condition."""
    return value if isinstance(value, bool) else None


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def compared(sign, one, other):
    if one is None or other is None:
        return None
    alike = type(one) is type(other) or (is_number(one) and is_number(other))
    if sign in ("=", "<>"):
        return alike and (one == other) is (sign == "=")
    return is_number(one) and is_number(other) and ORDER[sign](one, other)


def worked_out(sign, one, other):
    if not is_number(one) or not is_number(other):
        return None
    if sign == "/" and other == 0:
        return None
    if isinstance(one, Written) and isinstance(other, Written):
        whole = {"+": one + other, "-": one - other, "*": one * other}
        return Written(whole[sign] if sign in whole else int(one / other))
    made = divided(one, other) if sign == "/" else SUMS[sign](one, other)
    if isinstance(made, int):
        return made if -(2**63) <= made < 2**63 else float(made)
    return made if abs(made) != float("inf") else None


def divided(one, other):
    """The quotient of two integers is one if nothing is left."""
    whole = isinstance(one, int) and isinstance(other, int) and one % other == 0
    return one // other if whole else float(one) / float(other)


def like(pattern, escape, text):
    """Match one character of the pattern at a time."""
    if not pattern:
        return not text
    if pattern[0] == escape:
        return text[:1] == pattern[1] and like(pattern[2:], escape, text[1:])
    if pattern[0] == "%":
        return any(like(pattern[1:], escape, text[skipped:]) for skipped in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and like(pattern[1:], escape, text[1:])
