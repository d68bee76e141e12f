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
Damage = Callable[[Random, str], str]


def wrong_predicate(rng: Random) -> tuple[str, str]:
    """Return what was done to a predicate, and the predicate."""
    damage = rng.choice(_DAMAGES)
    while (wrong := damage(rng, good := rng.choice(PREDICATES))) == good:
        pass
    return damage.__name__.removeprefix("_").replace("_", " "), wrong


def _foreign_operator(rng: Random, text: str) -> str:
    foreign = ("==", "=>", "=~", "&&", "~", "like", "is", "startswith", "!", ":=", "matches", "not in", "has", "%")
    return re.sub(r">=|<=|!=|[<>=]|prefix|contains", rng.choice(foreign), text, count=1)


def _foreign_join(rng: Random, text: str) -> str:
    return re.sub(r" (and|or) ", f" {rng.choice(('AND THEN', ',', ';', 'AND ALSO', 'xor', '&', 'adn', '+'))} ", text, count=1)


def _token_lost(rng: Random, text: str) -> str:
    """Leave out an operator or a value; without a name nothing may be wrong."""
    found = [m for m in _TOKEN.finditer(text) if m[0] in (">", "=", ">=", "!=", "<=", "prefix", "in", "between", "contains")]
    lost = rng.choice(found)
    return text[: lost.start()] + text[lost.end() :]


def _quote_lost(rng: Random, text: str) -> str:
    return text[: text.index('"')] + text[text.index('"') + 1 :] if '"' in text else text


def _curly_quotes(rng: Random, text: str) -> str:
    return re.sub(r'"([^"]*)"', "\u201c\\1\u201d", text)


def _no_quotes(rng: Random, text: str) -> str:
    return text.replace('"', "")


def _parenthesis(rng: Random, text: str) -> str:
    return rng.choice((f"({text}", f"{text})", f"[{text}]", f"{{{text}}}"))


def _braces(rng: Random, text: str) -> str:
    return text.replace("{", rng.choice("([<")) if "{" in text else text


def _cut(rng: Random, text: str) -> str:
    return rng.choice((text + " and", text + " or not", text.rpartition(" ")[0] + " =", "not", "", "exists", text + " and x in {1,"))


def _wrong_number(rng: Random, text: str) -> str:
    return rng.choice(("n > ", "n between 1 and ")) + rng.choice(
        ("1e999", "99999999999999999999", "1,5", "0x", "5%", "10 MB", "nan", "+3", ".5", "1.2.3", "٣")
    )


def _wrong_kind(rng: Random, text: str) -> str:
    return rng.choice(
        ("ok > true", 'n prefix 5', "n between 1 and", "n between 9 and 1", "n in {}", 'n between "a" and 5', "n = null", "n = 'x")
    )


def _too_long(rng: Random, text: str) -> str:
    return rng.choice((f'a = "{"x" * 70_000}"', "x" * 300 + " = 1", " and ".join(f"a{n} = {n}" for n in range(300)), "(" * 300 + "a = 1"))


def _odd_name(rng: Random, text: str) -> str:
    return rng.choice(("7up = 1", "größe = 1 and", "a..b =", "a b = 1", "$x = 1", "`x = 1", "@ = 1", "x.y. = = 2"))


_DAMAGES: tuple[Damage, ...] = (
    *(_foreign_operator, _foreign_operator, _foreign_join, _token_lost, _quote_lost, _curly_quotes, _no_quotes),
    *(_parenthesis, _braces, _cut, _wrong_number, _wrong_kind, _too_long, _odd_name),
)


def wrong_attributes(rng: Random) -> tuple[str, ...]:
    """Return the words of a message that is none."""
    wrong = rng.choice(
        (
            *("severity", "=6", "severity =6", 'note="two', "a=1 b=2", "7up=3", "x=1e999", "n=99999999999999999999"),
            *('{"a": [1]}', '{"a": null}', '{"a": 1', "{a: 1}", '{"a": NaN}', '{"a": 1, "a": 2}', "{}}", "[1]", "'a'=1"),
            *("x" * 300 + "=1", "a=" + "x" * 70_000, "`a=1", '"a"=1', "a:1", "severity==6", "--", "severity>5", "a=\u201cb c\u201d d=1"),
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
            *("tamis://::1:7400", "tamis://127.0.0.1:7400/path", "tamis+tls:/h:1", "tcp://127.0.0.1:7400", "mqtt://h:1883"),
            *("https://127.0.0.1:7600", "127.0.0.1:7400", "[::1]:7400", "tamis+unix:", "tamis+unix:nosuch.sock", "TAMIS://h:1"),
            *("tamis://user@127.0.0.1:7400", "tamis://no such:1", f"{misspelt(rng, 'tamis')}://127.0.0.1:7400", "amqp://h"),
            *("tamis://nosuch.invalid:7400", "tamis+ssl://127.0.0.1:7400", "tamis://127.0.0.1:0", "tamis://h\u043est:1"),
        )
    )
