"""What an expression of CESQL 1.0 means: a parser by descent, and a walk that stops at the first error."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""[ \t\r\n]*(?:(?P<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|(?P<integer>\d+(?![a-z]))|(?P<word>\w+)"""
    r"""|(?P<sign><>|<=|>=|!=|[-+*/%=<>(),]))""",
    re.DOTALL,
)
LEVELS = [("AND", "OR", "XOR"), ("=", "!=", "<>", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%")]
LEAST, GREATEST = -(2**31), 2**31 - 1
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace() and code not in range(0x1C, 0x20))


class Failure(Exception):
    """An error of the evaluation."""


def judge(text, event):
    tokens, at = [], 0
    while text[at:].strip(" \t\r\n"):
        found = TOKEN.match(text, at)
        tokens.append((found.lastgroup, found[found.lastgroup]))
        at = found.end()
    tree = Parser(tokens).whole()
    try:
        return value(tree, event) is True
    except Failure:
        return False


# --- parsing ---------------------------------------------------------------------------------------------------------


class Parser:
    def __init__(self, tokens):
        self.tokens = tokens

    def whole(self):
        tree = self.level(0)
        assert not self.tokens
        return tree

    def peek(self, ahead=0):
        kind, word = self.tokens[ahead] if ahead < len(self.tokens) else ("end", "")
        return "" if kind in ("text", "integer") else word.upper()

    def take(self, *words):
        return self.tokens.pop(0)[1].upper() if self.peek() and self.peek() in words else None

    def level(self, number):
        if number == len(LEVELS):
            return self.tested()
        tree = self.level(number + 1)
        while sign := self.take(*LEVELS[number]):
            tree = (sign, tree, self.level(number + 1))
        return tree

    def tested(self):
        tree = self.unary()
        while self.peek() in ("LIKE", "IN", "NOT"):
            negated = self.take("NOT")
            if self.take("LIKE"):
                tree = ("LIKE", tree, unquoted(self.tokens.pop(0)[1]))
            else:
                assert self.take("IN")
                tree = ("IN", tree, *self.listed())
            tree = ("NOT", tree) if negated else tree
        return tree

    def listed(self):
        assert self.take("(")
        parts = []
        while not self.take(")"):
            parts.append(self.level(0))
            self.take(",")
        return parts

    def unary(self):
        if self.take("NOT"):
            return ("NOT", self.unary())
        if self.take("-"):
            if self.tokens[0][0] == "integer":
                return ("literal", -int(self.tokens.pop(0)[1]))
            return ("NEGATE", self.unary())
        return self.atom()

    def atom(self):
        if self.take("("):
            tree = self.level(0)
            assert self.take(")")
            return tree
        self.take("+")
        if self.take("EXISTS"):
            return ("EXISTS", self.tokens.pop(0)[1])
        if self.peek(1) == "(":
            return (self.tokens.pop(0)[1].upper(), *self.listed())
        kind, word = self.tokens.pop(0)
        if kind == "word" and word.upper() in ("TRUE", "FALSE"):
            return ("literal", word.upper() == "TRUE")
        if kind == "word":
            return ("attribute", word)
        return ("literal", int(word) if kind == "integer" else unquoted(word))


def unquoted(token):
    mark, made, at = token[0], "", 1
    while at < len(token) - 1:
        pair = token[at : at + 2] if token[at] == "\\" else token[at]
        made += mark if pair == "\\" + mark else pair
        at += len(pair)
    return made


# --- evaluation ------------------------------------------------------------------------------------------------------


def value(tree, event):
    op, *parts = tree
    match op:
        case "literal":
            return parts[0]
        case "attribute":
            if event.get(parts[0]) is None:
                raise Failure("missing attribute")
            return event[parts[0]]
        case "EXISTS":
            return event.get(parts[0]) is not None
        case "AND" | "OR":
            left = boolean(value(parts[0], event))
            return left if left is (op == "OR") else boolean(value(parts[1], event))
        case "LIKE":
            return like(parts[1], string(value(parts[0], event)))
    return of_values(op, [value(part, event) for part in parts])


def of_values(op, values):
    match op:
        case "NOT":
            return not boolean(values[0])
        case "XOR":
            return boolean(values[0]) is not boolean(values[1])
        case "=" | "!=" | "<>":
            left, right = values
            return (to_type_of(right)(left) == right) is (op == "=")
        case "IN":
            first, *others = values
            return first in [to_type_of(first)(other) for other in others]
        case "<" | "<=" | ">" | ">=":
            left, right = map(integer, values)
            return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]
        case "NEGATE" | "ABS":
            number = integer(values[0])
            return bounded(-number if op == "NEGATE" or number < 0 else number)
        case "+" | "-" | "*" | "/" | "%":
            return calculated(op, *map(integer, values))
    return function(op, values)


def function(name, values):
    match name:
        case "INT" | "BOOL" | "STRING":
            return {"INT": integer, "BOOL": boolean, "STRING": string}[name](values[0])
        case "IS_INT" | "IS_BOOL":
            try:
                (integer if name == "IS_INT" else boolean)(values[0])
            except Failure:
                return False
            return True
        case "CONCAT":
            return "".join(map(string, values))
        case "CONCAT_WS":
            mark, *texts = map(string, values)
            return mark.join(texts)
    return of_text(name, string(values[0]), *map(integer, values[1:]))


def of_text(name, text, *numbers):
    match name:
        case "LENGTH":
            return len(text)
        case "LOWER" | "UPPER":
            return "".join(char.lower() if name == "LOWER" else char.upper() for char in text)
        case "TRIM":
            return text.strip(BLANKS)
        case "LEFT" | "RIGHT":
            if numbers[0] < 0:
                raise Failure("a negative length")
            kept = [at for at in range(len(text)) if (at if name == "LEFT" else len(text) - 1 - at) < numbers[0]]
            return "".join(text[at] for at in kept)
    return substring(text, *numbers)


def substring(text, start, length=GREATEST):
    if start > len(text) or start < -len(text) or length < 0:
        raise Failure("outside the text")
    first = {True: start, False: len(text) + start + 1}[start > 0]
    return "".join(char for at, char in enumerate(text, 1) if start and first <= at < first + length)


def calculated(op, left, right):
    if op in ("/", "%"):
        if right == 0:
            raise Failure("division by zero")
        quotient = abs(left) // abs(right)
        quotient = -quotient if (left < 0) != (right < 0) else quotient
        return bounded(quotient if op == "/" else left - right * quotient)
    return bounded({"+": left + right, "-": left - right, "*": left * right}[op])


def bounded(number):
    if not LEAST <= number <= GREATEST:
        raise Failure("outside 32 bits")
    return number


def like(pattern, text):
    """Match one character of the pattern at a time."""
    if not pattern:
        return not text
    if pattern[:2] in ("\\%", "\\_"):
        return text[:1] == pattern[1] and like(pattern[2:], text[1:])
    if pattern[0] == "%":
        return any(like(pattern[1:], text[skipped:]) for skipped in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and like(pattern[1:], text[1:])


# --- casts -----------------------------------------------------------------------------------------------------------


def to_type_of(of):
    return boolean if isinstance(of, bool) else string if isinstance(of, str) else integer


def string(of):
    return of if isinstance(of, str) else ("true" if of else "false") if isinstance(of, bool) else f"{of:d}"


def integer(of):
    if not isinstance(of, str):
        return 1 if of is True else 0 if of is False else of
    if not re.fullmatch("[+-]?[0-9]+", of):
        raise Failure("no integer")
    return bounded(int(of))


def boolean(of):
    if not isinstance(of, str):
        return of not in (0, False)
    if of.lower() not in ("true", "false"):
        raise Failure("no boolean")
    return of.lower() == "true"
