"""What a filter of Azure Service Bus means: SQL by descent, None being unknown, and correlation by equalities."""

from __future__ import annotations

import json
import math
import re

from tests.protocol.dialects.judges import jms

TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"""
    r"""|(?P<word>\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*"|[^\W\d_]\w*)|(?P<sign><>|!=|<=|>=|[-+*/%=<>(),.]))"""
)
RESERVED = {"AND", "OR", "NOT", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE", "EXISTS"}
SIGNS = {
    "=": lambda one, other: one == other,
    "<>": lambda one, other: one != other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def judge(text, event):
    properties = scopes_of(event)
    if text.lstrip().startswith("{"):
        return correlates(json.loads(text), properties)
    return not text.strip() or Reader(text, properties).whole() is True


def scopes_of(event):
    """Values by scope and name; `Subject` is a name of `Label`."""
    found = {"sys": {}, "user": {}}
    for name, value in event.items():
        if name.lower() in found and isinstance(value, dict):
            found[name.lower()] |= {inner.lower(): each for inner, each in value.items()}
        elif name.lower().startswith("sys."):
            found["sys"][name[4:].lower()] = value
        else:
            found["user"][name.lower()] = value
    found["sys"] = {name.replace("subject", "label"): value for name, value in found["sys"].items()}
    return found


def kind(value):
    return "number" if jms.is_number(value) else type(value).__name__


def correlates(form, properties):
    wanted = []
    for name, value in form.items():
        if isinstance(value, dict):
            wanted += [(properties["user"].get(inner.lower()), each) for inner, each in value.items()]
        else:
            wanted.append((properties["sys"].get(name.lower().replace("subject", "label")), value))
    return all(kind(one) == kind(other) and one == other for one, other in wanted)


class Reader(jms.Reader):
    """Logic and the whole are as in a message selector."""

    def __init__(self, text, properties):
        self.properties, self.tokens, at = properties, [], 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            form, word = match.lastgroup, match[match.lastgroup]
            self.tokens.append(word.upper() if form == "word" and word.upper() in RESERVED else (form, word))
            at = match.end()

    def test(self):
        if self.take("EXISTS"):
            return self.signed() is not None
        value = self.sum()
        if sign := self.take(*SIGNS):
            return compared(sign, value, self.sum())
        if self.take("IS"):
            negated = self.take("NOT")
            self.take("NULL")
            return (value is None) is not bool(negated)
        negated = self.take("NOT")
        if self.take("IN"):
            found = self.among(value)
        elif self.take("LIKE"):
            pattern = self.text()
            escape = self.text() if self.take("ESCAPE") else None
            found = jms.like(pattern, escape, value) if isinstance(value, str) else None
        else:
            return value
        return found if not negated or found is None else not found

    def among(self, value):
        self.take("(")
        found = [compared("=", value, self.sum())]
        while self.take(","):
            found.append(compared("=", value, self.sum()))
        self.take(")")
        return True if True in found else None if None in found else False

    def sum(self):
        value = self.product()
        while sign := self.take("+", "-"):
            value = jms.worked_out(sign, value, self.product())
        return value

    def product(self):
        value = self.signed()
        while sign := self.take("*", "/", "%"):
            value = remainder(value, self.signed()) if sign == "%" else jms.worked_out(sign, value, self.signed())
        return value

    def signed(self):
        if sign := self.take("-", "+"):
            return jms.worked_out(sign, jms.Written(0), self.signed())
        if self.take("("):
            value = self.any()
            assert self.take(")")
            return value
        if word := self.take("TRUE", "FALSE"):
            return word == "TRUE"
        form, word = self.tokens[0]
        if form == "text":
            return self.text()
        self.tokens.pop(0)
        if form == "number":
            return jms.Written(word) if word.isdigit() else float(word)
        return self.named(word)

    def named(self, word):
        if word.lower() in ("p", "property") and self.take("("):
            scope, name = ("user." + self.text()).split(".")[-2:]
            self.take(")")
        elif self.take("."):
            scope, name = word, self.tokens.pop(0)[1]
        else:
            scope, name = "user", word
        if name[0] in '["':
            name = name[1:-1].replace("]]", "]") if name[0] == "[" else name[1:-1].replace('""', '"')
        name = name.lower()
        return self.properties[scope.lower()].get("label" if scope.lower() == "sys" and name == "subject" else name)


def compared(sign, one, other):
    """No operator takes values of two kinds, and none but equality texts and booleans."""
    if one is None or other is None or kind(one).replace("Written", "number") != kind(other):
        return None
    return SIGNS[sign](one, other) if jms.is_number(one) or sign in ("=", "<>", "!=") else None


def remainder(one, other):
    if not jms.is_number(one) or not jms.is_number(other) or other == 0:
        return None
    if isinstance(one, int) and isinstance(other, int):
        left = abs(one) % abs(other) * (1 if one >= 0 else -1)
        return jms.Written(left) if isinstance(one, jms.Written) and isinstance(other, jms.Written) else left
    return math.fmod(one, other)
