"""Wrong predicates, attributes and addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from tests.wrong.slips import misspelt

PREDICATES = (
    'severity > 2 and class = "alert"',
    'device prefix "web" or device suffix ".local"',
    "price between 10 and 20 and not exists note",
    'symbol in {"IBM", "ACME"} and volume >= 1000',
    "(a = 1 or b = 2) and c != true",
    'name contains "x" and ratio <= 0.5',
)
_TOKEN = re.compile(r'"[^"]*"|[a-z_.]+|[0-9.]+|[^\s\w]=?')


def wrong_predicate(rng: Random) -> tuple[str, str]:
    """Return what was done to a predicate, and the predicate."""
    if rng.random() < 0.4:
        what = rng.choice(sorted(_WHOLE))
        return what, rng.choice(_WHOLE[what])
    while True:
        good = rng.choice(PREDICATES)
        what = rng.choice(sorted(_DAMAGES))
        wrong = _DAMAGES[what](rng, good)
        if wrong != good:
            return what, wrong


def _replaced(rng: Random, text: str, pattern: str, words: tuple[str, ...]) -> str:
    return re.sub(pattern, rng.choice(words), text, count=1)


def _operator_lost(rng: Random, text: str) -> str:
    found = [token for token in _TOKEN.finditer(text) if token[0] in _OPERATORS]
    lost = rng.choice(found)
    return text[: lost.start()] + text[lost.end() :]


_OPERATORS = (">", "=", ">=", "!=", "<=", "prefix", "in", "between", "contains")
_FOREIGN = ("==", "=>", "=~", "&&", "~", "like", "is", "startswith", "!", ":=", "matches", "not in", "has", "%")
_JOINS = (" AND THEN ", " , ", " ; ", " AND ALSO ", " xor ", " adn ", " + ")
_DAMAGES: dict[str, Callable[[Random, str], str]] = {
    "foreign operator": lambda rng, text: _replaced(rng, text, r">=|<=|!=|[<>=]|prefix|contains", _FOREIGN),
    "foreign join": lambda rng, text: _replaced(rng, text, r" (and|or) ", _JOINS),
    "operator lost": _operator_lost,
    "quote lost": lambda _, text: text.replace('"', "", 1),
    "curly quotes": lambda _, text: re.sub(r'"([^"]*)"', "\u201c\\1\u201d", text),
    "no quotes": lambda _, text: text.replace('"', ""),
    "parenthesis": lambda rng, text: rng.choice((f"({text}", f"{text})", f"[{text}]", f"{{{text}}}")),
    "braces": lambda rng, text: text.replace("{", rng.choice("([<")),
    "cut": lambda rng, text: rng.choice((f"{text} and", f"{text} or not", f"{text} and x in {{1,")),
}
_NUMBERS = ("1e999", "99999999999999999999", "1,5", "0x", "5%", "10 MB", "nan", "+3", ".5", "1.2.3", "\u0663")
_WHOLE = {
    "wrong number": tuple(f"{lead}{number}" for lead in ("n > ", "n between 1 and ") for number in _NUMBERS),
    "wrong kind": (
        *("ok > true", "n prefix 5", "n between 1 and", "n between 9 and 1", "n in {}", 'n between "a" and 5'),
        *("n = null", "n = 'x", "not", "", "exists", "n ="),
    ),
    "odd name": ("7up = 1", "größe = 1 and", "a..b =", "a b = 1", "$x = 1", "`x = 1", "@ = 1", "x.y. = = 2"),
    "too long": (
        *(f'a = "{"x" * 70_000}"', "x" * 300 + " = 1", "(" * 300 + "a = 1"),
        " and ".join(f"a{n} = {n}" for n in range(300)),
    ),
}


def wrong_attributes(rng: Random) -> tuple[str, ...]:
    """Return the words of a message that is none."""
    wrong = rng.choice(
        (
            *("severity", "=6", "severity =6", 'note="two', "a=1 b=2", "7up=3", "x=1e999", "n=99999999999999999999"),
            *(
                '{"a": [1]}',
                '{"a": null}',
                '{"a": 1',
                "{a: 1}",
                '{"a": NaN}',
                '{"a": 1, "a": 2}',
                "{}}",
                "[1]",
                "'a'=1",
            ),
            *(
                "x" * 300 + "=1",
                "a=" + "x" * 70_000,
                "`a=1",
                '"a"=1',
                "a:1",
                "severity==6",
                "--",
                "severity>5",
                "a=\u201cb c\u201d d=1",
            ),
        )
    )
    more = {"severity==6": ("severity==6", "=x"), "--": ("--", "--x")}.get(wrong, (wrong,))
    if rng.random() < 0.2:
        return ("a=1", "a=2")
    return ("class=alert", *more) if not wrong.startswith(("{", "[")) else more


def wrong_address(rng: Random) -> str:
    """Return a word that is meant as an address of a router for clients, and is none."""
    return rng.choice(
        (
            *("tamis://", "tamis://127.0.0.1:99999", "tamis://127.0.0.1:x", "tamis://:7400", "tamis:/127.0.0.1:7400"),
            *(
                "tamis://::1:7400",
                "tamis://127.0.0.1:7400/path",
                "tamis+tls:/h:1",
                "tcp://127.0.0.1:7400",
                "mqtt://h:1883",
            ),
            *(
                "https://127.0.0.1:7600",
                "127.0.0.1:7400",
                "[::1]:7400",
                "tamis+unix:",
                "tamis+unix:nosuch.sock",
                "TAMIS://h:1",
            ),
            *(
                "tamis://user@127.0.0.1:7400",
                "tamis://no such:1",
                f"{misspelt(rng, 'tamis')}://127.0.0.1:7400",
                "amqp://h",
            ),
            *(
                "tamis://nosuch.invalid:7400",
                "tamis+ssl://127.0.0.1:7400",
                "tamis://127.0.0.1:0",
                "tamis://h\u043est:1",
            ),
        )
    )
