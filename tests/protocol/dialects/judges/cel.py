"""What a condition of CEL means: by descent over the values of the event, with errors that are raised."""

from __future__ import annotations

import ast
import math
import re

TOKEN = re.compile(
    r"""\s*(?:(?P<text>[rR]?(?:\"{3}(?:[^\\]|\\.)*?\"{3}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))"""
    r"""|(?P<number>0x[0-9a-fA-F]+|\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)u?"""
    r"""|(?P<word>[A-Za-z_]\w*)|(?P<sign>&&|\|\||[=!<>]=|[-+*/%<>!?:()\[\].,]))"""
)
METHODS = {"startsWith": str.startswith, "endsWith": str.endswith, "contains": str.__contains__}
ORDER = ("<", "<=", ">", ">=")


class Fault(Exception):
    """An error of evaluation."""


class Number:
    """A number as an integer, as a double, or as both: a whole number of a message is the one that its operator takes.
    None is an error of the arithmetic of that type."""

    def __init__(self, integer=(), double=()):
        self.types = {**({} if integer == () else {int: integer}), **({} if double == () else {float: double})}

    def seen(self):
        value = next(iter(self.types.values()), None)
        if value is None:
            raise Fault
        return value


class Told(str):
    """A text of a message."""

    __slots__ = ()


class Tentative(Told):
    """Two texts of a message that are joined; a text only where a literal says that texts are joined."""

    __slots__ = ()


def judge(text, event):
    reader = Reader(text)
    meaning = reader.choice()
    assert not reader.tokens
    try:
        return meaning(event) is True
    except Fault:
        return False


def leaf(value):
    """A value of a message as an operand."""
    if value is None or isinstance(value, dict | list):
        raise Fault
    return value


def of_message(value):
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Told(value) if isinstance(value, str) else value
    is_whole = float(value).is_integer() and -(2**63) <= value < 2**63
    return Number(int(value), float(value)) if is_whole else Number(double=value)


class Reader:
    """Each method returns a function of the event."""

    def __init__(self, text):
        self.tokens, at = [], 0
        text = re.sub(r"//[^\n]*", "", text) if "//" in text else text
        while text[at:].strip():
            match = TOKEN.match(text, at)
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()

    def take(self, *signs):
        if self.tokens and self.tokens[0][0] != "text" and self.tokens[0][1] in signs:
            return self.tokens.pop(0)[1]
        return None

    def choice(self):
        condition = self.either()
        if not self.take("?"):
            return condition
        one = self.either()
        assert self.take(":")
        other = self.choice()
        return lambda event: one(event) if truth(condition(event)) else other(event)

    def either(self):
        found = self.both()
        while self.take("||"):
            found = joined(found, self.both(), True)
        return found

    def both(self):
        found = self.relation()
        while self.take("&&"):
            found = joined(found, self.relation(), False)
        return found

    def relation(self):
        found = self.sum()
        while sign := self.take("==", "!=", "in", *ORDER):
            found = self.among(found) if sign == "in" else related(sign, found, self.sum())
        return found

    def among(self, subject):
        assert self.take("[")
        values = [self.sum()]
        while self.take(",") and self.tokens[0][1] != "]":
            values.append(self.sum())
        assert self.take("]")
        return lambda event: True in [equal(subject(event), value(event)) for value in values]

    def sum(self):
        found = self.product()
        while sign := self.take("+", "-"):
            found = worked(sign, found, self.product())
        return found

    def product(self):
        found = self.signed()
        while sign := self.take("*", "/", "%"):
            found = worked(sign, found, self.signed())
        return found

    def signed(self):
        if self.take("!"):
            inner = self.signed()
            return lambda event: not truth(inner(event))
        if self.take("-"):
            inner = self.signed()
            return lambda event: calculated("-", Number(0, 0.0), inner(event))
        return self.member()

    def member(self):
        if self.take("("):
            found = self.choice()
            assert self.take(")")
            return self.methods(found)
        form, word = self.tokens.pop(0)
        if form == "text":
            text = word[2:-1] if word[0] in "rR" else ast.literal_eval(word)
            return self.methods(lambda _: text)
        if form == "number":
            number = int(word, 0) if word.isdigit() or "x" in word else float(word)
            return lambda _: Number(integer=number) if isinstance(number, int) else Number(double=number)
        if word in ("true", "false", "null"):
            return lambda _: {"true": True, "false": False, "null": None}[word]
        if word in ("has", "size") and self.take("("):
            inner = self.choice()
            assert self.take(")")
            return sized(inner) if word == "size" else had(inner)
        return self.methods(self.path(word))

    def path(self, word):
        keys = [word]
        while self.tokens[:1] in ([("sign", ".")], [("sign", "[")]):
            if self.tokens[0][1] == "." and self.tokens[2:3] == [("sign", "(")]:
                break
            if self.take("."):
                keys.append(self.tokens.pop(0)[1])
            else:
                self.take("[")
                key = self.member()({})
                keys.append(key.seen() if isinstance(key, Number) else key)
                self.take("]")
        return lambda event: looked_up(event, keys)

    def methods(self, owner):
        while self.take("."):
            name = self.tokens.pop(0)[1]
            self.take("(")
            owner = sized(owner) if name == "size" else textual(METHODS[name], owner, self.choice())
            assert self.take(")")
        return owner


def looked_up(event, keys):
    value = event
    for key in keys:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise Fault from None
    return of_message(value)


def truth(value):
    if not isinstance(value, bool):
        raise Fault
    return value


def joined(one, other, settling):
    def meaning(event):
        found = []
        for part in (one, other):
            try:
                found.append(truth(part(event)))
            except Fault:
                found.append(None)
        if settling in found:
            return settling
        if None in found:
            raise Fault
        return not settling

    return meaning


def plain(value):
    value = leaf(value)
    if isinstance(value, Tentative):
        raise Fault
    return value.seen() if isinstance(value, Number) else value


def kind(value):
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def equal(one, other):
    one, other = plain(one), plain(other)
    return kind(one) == kind(other) and one == other


def related(sign, left, right):
    if is_null(left) or is_null(right):
        return lambda event: (left(event) is None and right(event) is None) is (sign == "==")

    def meaning(event):
        one, other = plain(left(event)), plain(right(event))
        if sign in ("==", "!="):
            return equal(one, other) is (sign == "==")
        if kind(one) != kind(other) or isinstance(one, bool):
            raise Fault
        return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[sign]

    return meaning


def is_null(part):
    """Whether a part is the literal."""
    try:
        return part({}) is None
    except Fault:
        return False


def worked(sign, left, right):
    return lambda event: calculated(sign, left(event), right(event))


def calculated(sign, one, other):
    if sign == "+" and isinstance(one, str) and isinstance(other, str):
        is_tentative = isinstance(one, Told) and isinstance(other, Told)
        return Tentative(one + other) if is_tentative else str(one) + str(other)
    if not isinstance(one, Number) or not isinstance(other, Number):
        raise Fault
    found = Number()
    for form, calculate in ((int, of_integers), (float, of_doubles)):
        if form in one.types and form in other.types and (form is int or sign != "%"):
            operands = one.types[form], other.types[form]
            found.types[form] = None if None in operands else calculate(sign, *operands)
    if not found.types:
        raise Fault
    return found


def of_integers(sign, one, other):
    if sign in "/%":
        if other == 0:
            return None
        quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
        found = quotient if sign == "/" else one - quotient * other
    else:
        found = {"+": one + other, "-": one - other, "*": one * other}[sign]
    return found if -(2**63) <= found < 2**63 else None


def of_doubles(sign, one, other):
    if sign == "/" and other == 0:
        return None
    found = one / other if sign == "/" else {"+": one + other, "-": one - other, "*": one * other}[sign]
    return found if math.isfinite(found) else None


def sized(inner):
    def meaning(event):
        value = inner(event)
        if not isinstance(value, str | list | dict):
            raise Fault
        return Number(integer=len(value))

    return meaning


def had(path):
    def meaning(event):
        try:
            path(event)
        except Fault:
            return False
        return True

    return meaning


def textual(method, owner, part):
    def meaning(event):
        one, other = owner(event), part(event)
        if not isinstance(one, str) or not isinstance(other, str):
            raise Fault
        return method(one, other)

    return meaning
