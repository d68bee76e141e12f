"""Fuzz the predicate language and the messages of a command line, with the documented exceptions as the oracle.

Law: PredicateError and MessageTextError are all that a text may raise, and each points into its text; anything else is
a bug. What parses is written and read back as the same thing.
"""

from __future__ import annotations

from collections.abc import Callable

from tamis.protocol import limits
from tamis.protocol.errors import MessageTextError, PredicateError, SyntaxRefused
from tamis.protocol.filters import Predicate
from tamis.protocol.language import format_predicate, parse
from tamis.protocol.language.das import compile_profile
from tamis.protocol.message_text import format_attributes, parse_attributes, parse_message, parse_message_text
from tamis.protocol.spaces import SpaceSet, space_from
from tamis.protocol.values import Value, identity

SEEDS: list[bytes] = [
    b'severity > 2 and alert-type = "intrusion" or class = "alert" and device ^= "web"',
    b"price between 10 and 20 and not (venue in {\"X\", 'Y'})   # to the end",
    b"exists region & !(a.b >= -0x1F | c != 1.5e-3) || true && false",
    b'`odd name` contains "\\n\\x41\\u00e9\\U0001F600" and x between "a" and "b"',
    b"not (a = 1 or b = 2 and not (c = 3 or d = 4))",
    b"(a=1 or b=1) and (c=1 or d=1) and (e=1 or f=1)",
    b"x not in (1, 2)",
    b"class=alert severity=6 note=\"two words\" ok=true ratio=0.5 `a b`='c'",
    b'{"price": 300, "dest": "MXP"}',
    "größe = 'é' and x suffix '\U0010ffff'".encode(),
    b"s: price > 10.005 and not (side between 'sell' and 'buy') or volume >= 0.5 and exists price",
    b"PROFILE(PRI(price=5,side>sell,`odd` in {1, x},TYPE=s))",
]
SPACES = SpaceSet(
    {
        "s": space_from(
            "s",
            {
                "open": True,
                "attributes": {
                    "price": {"fixed": [0, 10000], "digits": 2},
                    "volume": {"integer": [0, 1_000_000]},
                    "side": {"one_of": ["sell", "buy"]},
                    "class": "string",
                },
            },
        )
    }
)


def target(data: bytes) -> None:
    # Bytes that are not UTF-8 become lone surrogates, as in sys.argv; they must be refused, not crash.
    text = data.decode("utf-8", "surrogateescape")
    _predicate(text, parse)
    _predicate(text, lambda text: parse(text, spaces=SPACES))
    _predicate(text, lambda text: compile_profile(text, SPACES).predicate)
    _message(text)


def _predicate(text: str, read: Callable[[str], Predicate]) -> None:
    try:
        predicate = read(text)
    except PredicateError as error:
        return _points_into(error, text)
    written = format_predicate(predicate)
    # A predicate in hand may be longer than the text it came from: `not` over a list of long strings.
    if len(written.encode()) <= limits.PREDICATE_BYTES_MAX:
        assert parse(written) == predicate, written
    return None


def _message(text: str) -> None:
    for read in (parse_message, parse_message_text, _as_words):
        try:
            attributes = read(text)
        except MessageTextError as error:
            _points_into(error, text)
        else:
            again = parse_message_text(format_attributes(attributes))
            assert _content(again) == _content(attributes), attributes


def _as_words(text: str) -> dict[str, Value]:
    return parse_attributes(text.split(" "))


def _content(attributes: dict[str, Value]) -> list[tuple[str, tuple[int, Value]]]:
    return [(name, identity(value)) for name, value in attributes.items()]


def _points_into(error: SyntaxRefused, text: str) -> None:
    lines = text.split("\n")
    assert error.text == text
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    assert error.problem
    assert str(error)
