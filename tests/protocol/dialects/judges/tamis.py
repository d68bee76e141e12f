"""What a predicate of the language means: a parser by descent, that works it out as it reads. A condition holds or it
does not; a value is None where an attribute is absent or there is no result."""

from __future__ import annotations

import ipaddress
import math
import operator
import re

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<network>(?<=in )\s*[0-9a-fA-F:.]+/\d+)"""
    r"""|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[^\W\d][\w.:/@-]*|`[^`]*`)"""
    r"""|(?P<sign>~\^=|~\$=|~=|!=|<=|>=|==|<>|\^=|\$=|\*=|&&|\|\||[-+*/%=<>(){},!&|]))"""
)
COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
TEXTS = {"prefix": str.startswith, "suffix": str.endswith, "contains": operator.contains}
ALSO = {"==": "=", "<>": "!=", "^=": "prefix", "$=": "suffix", "*=": "contains", "substring": "contains"}
ALSO |= {"!": "not", "&": "and", "&&": "and", "|": "or", "||": "or"}
WORDS = {"and", "or", "not", "exists", "between", "in", "prefix", "suffix", "contains", "substring", "true", "false"}


def judge(text, event):
    reader = Reader(text, event)
    found = reader.any()
    assert not reader.tokens
    return found


class Reader:
    def __init__(self, text, event):
        self.event, self.tokens, at = event, [], 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            kind, word = match.lastgroup, match[match.lastgroup]
            if kind == "word" and word.lower() in WORDS:
                kind, word = "sign", word.lower()
            self.tokens.append((kind, ALSO.get(word, word) if kind == "sign" else word))
            at = match.end()

    def sees(self, *words):
        return bool(self.tokens) and self.tokens[0][0] == "sign" and self.tokens[0][1] in words

    def take(self, *words):
        return self.tokens.pop(0)[1] if self.sees(*words) else None

    def takes_word(self, word):
        """Whether a word follows that is a name elsewhere."""
        return self.tokens[:1] == [("word", word)] and self.tokens.pop(0) is not None

    def any(self):
        found = self.all()
        while self.take("or"):
            found = self.all() or found
        return found

    def all(self):
        found = self.one()
        while self.take("and"):
            found = self.one() and found
        return found

    def one(self):
        if self.take("not"):
            return not self.one()
        if word := self.take("true", "false"):
            return word == "true"
        if self.take("exists"):
            return name_of(self.tokens.pop(0)[1]) in self.event
        if self.sees("("):
            kept = list(self.tokens)
            try:
                self.take("(")
                found = self.any()
                assert self.take(")")
                assert not self.tokens or self.sees("and", "or", ")")
            except (AssertionError, IndexError):
                self.tokens = kept
            else:
                return found
        return self.condition()

    def condition(self):
        value = self.sum()
        if sign := self.take(*COMPARE):
            return compared(sign, value, self.operand())
        if sign := self.take(*TEXTS):
            other = self.operand()
            return isinstance(value, str) and isinstance(other, str) and TEXTS[sign](value, other)
        if sign := self.take("~=", "~^=", "~$="):
            other = self.operand()
            if not isinstance(value, str) or not isinstance(other, str):
                return False
            value, other = folded(value), folded(other)
            return {"~=": operator.eq, "~^=": str.startswith, "~$=": str.endswith}[sign](value, other)
        negated = bool(self.take("not"))
        return self.among(value) is not negated

    def among(self, value):
        if self.take("between"):
            low = self.operand()
            assert self.take("and")
            return compared(">=", value, low) & compared("<=", value, self.operand())
        if self.takes_word("like"):
            pattern = self.operand()
            escape = self.operand() if self.takes_word("escape") else None
            return isinstance(value, str) and like(pattern, escape, value)
        assert self.take("in")
        if self.tokens[0][0] == "network":
            network = ipaddress.ip_network(self.tokens.pop(0)[1].strip(), strict=False)
            return isinstance(value, str) and is_inside(value, network)
        assert self.take("{")
        found = compared("=", value, self.operand())
        while self.take(","):
            found = compared("=", value, self.operand()) or found
        assert self.take("}")
        return found

    def operand(self):
        word = self.take("true", "false")
        return self.sum() if word is None else word == "true"

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
        if self.take("-"):
            return worked_out("-", 0, self.signed())
        if self.take("("):
            value = self.sum()
            assert self.take(")")
            return value
        kind, word = self.tokens.pop(0)
        if kind == "text":
            return word[1:-1]
        if kind == "number":
            return float(word) if "." in word else int(word)
        assert kind == "word"
        if not self.take("("):
            return self.event.get(name_of(word))
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        assert self.take(")")
        return made(word.lower(), *values)


def name_of(word):
    return word.strip("`")


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def compared(sign, one, other):
    """Values of two kinds, and absent ones, are neither equal nor unequal."""
    numbers = is_number(one) and is_number(other)
    texts = isinstance(one, str) and isinstance(other, str)
    truths = isinstance(one, bool) and isinstance(other, bool) and sign in ("=", "!=")
    return (numbers or texts or truths) and COMPARE[sign](one, other)


def worked_out(sign, one, other):
    if not is_number(one) or not is_number(other) or (sign in "/%" and other == 0):
        return None
    one, other = plain(one), plain(other)
    if isinstance(one, int) and isinstance(other, int):
        if sign == "%":
            return abs(one) % abs(other) * (1 if one >= 0 else -1)
        if sign != "/" or one % other == 0:
            found = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv}[sign](one, other)
            return found if -(2**63) <= found < 2**63 else float(found)
    one, other = float(one), float(other)
    if sign == "%":
        return math.fmod(one, other)
    found = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[sign](one, other)
    return found if math.isfinite(found) else None


def plain(number):
    """1.0 is 1."""
    return int(number) if float(number).is_integer() and -(2**63) <= number < 2**63 else number


def made(name, text, *others):
    if not isinstance(text, str):
        return None
    match name, others:
        case "length", ():
            return len(text)
        case "lower", ():
            return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        case "upper", ():
            return "".join(c.upper() if len(c.upper()) == 1 else c for c in text)
        case "trim", ():
            return text.strip(" \t\n\r\f\v")
        case "concat", (str(other),):
            return text + other
        case (("left" | "right"), (count,)) if is_number(count) and isinstance(plain(count), int) and count >= 0:
            count = min(plain(count), len(text))
            return text[:count] if name == "left" else text[len(text) - count :]
    return None


def folded(text):
    """In any case, each character by itself: `ß` is no `ss`."""
    return "".join(c.casefold() if len(c.casefold()) == 1 else c.lower() for c in text)


def is_inside(text, network):
    try:
        return ipaddress.ip_address(text) in network
    except ValueError:
        return False


def like(pattern, escape, text):
    """Match one character of the pattern at a time."""
    if not pattern:
        return not text
    if pattern[0] == escape:
        return text[:1] == pattern[1] and like(pattern[2:], escape, text[1:])
    if pattern[0] == "%":
        return any(like(pattern[1:], escape, text[skipped:]) for skipped in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and like(pattern[1:], escape, text[1:])
