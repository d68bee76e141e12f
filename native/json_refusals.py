"""Why a message in JSON is refused: the codes of C, and a sentence for each."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from tamis.native._tm import lib
from tamis.protocol.errors import Refused
from tamis.protocol.limits import ATTRIBUTES_MAX, NAME_BYTES_MAX, SPACE_NAME_BYTES_MAX, STRING_BYTES_MAX


class JsonCode(enum.IntEnum):
    """As in `tm_relay_api.h`."""

    ENDS = 1
    NOT_OBJECT = 2
    NO_KEY = 3
    NO_COLON = 4
    NO_COMMA = 5
    NO_VALUE = 6
    TRAILING = 7
    NUMBER = 8
    CONTROL = 9
    ESCAPE = 10
    SURROGATE = 11
    UTF8 = 12
    NUMBER_LONG = 13
    KEY_TWICE = 20
    NAME_TWICE = 21
    UNKNOWN_KEY = 22
    NULL = 23
    ARRAY = 24
    OBJECT = 25
    NAME_SIZE = 26
    STRING_SIZE = 27
    TOO_MANY = 28
    INTEGER_RANGE = 29
    FLOAT_RANGE = 30
    INTEGER_TEXT = 31
    NO_ATTRIBUTES = 32
    KEY_KIND = 33
    TWO_PAYLOADS = 34
    BASE64 = 35
    TTL = 36
    SPACE_SIZE = 37
    SPACE_DIFFERS = 38
    TOO_LARGE = 39
    CONFIRM = 40
    OTHER_OP = 41
    LINE_LONG = 42


_VALUES: Final = "a value is a string, an integer, a float or a boolean"
_SENTENCES: Final = {
    JsonCode.ENDS: "the text ends inside of the object",
    JsonCode.NOT_OBJECT: 'a message is an object such as {"attributes": {"price": 300}, "payload": "text"}',
    JsonCode.NO_KEY: "expected a key in double quotes",
    JsonCode.NO_COLON: "expected `:` behind a key",
    JsonCode.NO_COMMA: "expected `,` or `}`",
    JsonCode.NO_VALUE: "expected a value",
    JsonCode.TRAILING: "something follows the object",
    JsonCode.NUMBER: "this is no number of JSON",
    JsonCode.CONTROL: "a control character in a string is written as an escape, such as \\n",
    JsonCode.ESCAPE: "there is no such escape",
    JsonCode.SURROGATE: "half of a surrogate pair is no character",
    JsonCode.UTF8: "not valid UTF-8",
    JsonCode.NUMBER_LONG: f"a number has at most {lib.TM_JSON_NUMBER_BYTES_MAX} characters",
    JsonCode.KEY_TWICE: "the key stands twice in the message",
    JsonCode.NAME_TWICE: "the attribute stands twice in the message",
    JsonCode.UNKNOWN_KEY: "a message has no such key",
    JsonCode.NULL: f"{_VALUES}, not null",
    JsonCode.ARRAY: f"{_VALUES}, not a list",
    JsonCode.OBJECT: f"{_VALUES}, not an object",
    JsonCode.NAME_SIZE: f"an attribute name has 1 to {NAME_BYTES_MAX} bytes of UTF-8",
    JsonCode.STRING_SIZE: f"a string has at most {STRING_BYTES_MAX} bytes of UTF-8",
    JsonCode.TOO_MANY: f"a message has at most {ATTRIBUTES_MAX} attributes",
    JsonCode.INTEGER_RANGE: "an integer has 64 bits",
    JsonCode.FLOAT_RANGE: "beyond the largest float",
    JsonCode.INTEGER_TEXT: 'an integer as text is {"integer": "9007199254740993"}',
    JsonCode.NO_ATTRIBUTES: 'the message has no key "attributes"',
    JsonCode.KEY_KIND: "the value is of another kind than this key has",
    JsonCode.TWO_PAYLOADS: 'a message has "payload" or "payload_base64", not both',
    JsonCode.BASE64: '"payload_base64" is not base64 with padding',
    JsonCode.TTL: f'"ttl_s" is 0.001 to {lib.TM_JSON_TTL_S_MAX:,} seconds',
    JsonCode.SPACE_SIZE: f'"space" has 1 to {SPACE_NAME_BYTES_MAX} bytes of UTF-8',
    JsonCode.SPACE_DIFFERS: '"space" differs from the space that the attributes name',
    JsonCode.TOO_LARGE: "the message is too large",
    JsonCode.CONFIRM: '"confirm" is "accepted", "stored" or "none"',
    JsonCode.OTHER_OP: '"op" is not "publish"',
    JsonCode.LINE_LONG: f"a line has at most {lib.TM_JSON_LINE_BYTES_MAX:,} bytes",
}


@dataclass(frozen=True, slots=True)
class JsonRefusal:
    """`line` and `column`, in characters, count from 1, `position`, in bytes, from 0; in a stream of lines that is in
    its line. `name`: the attribute or key that it is about, or its begin."""

    code: JsonCode
    line: int
    column: int
    position: int
    name: str = ""

    @property
    def problem(self) -> str:
        """The sentence, without the place."""
        return f"{self.name!r}: {_SENTENCES[self.code]}" if self.name else _SENTENCES[self.code]

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.problem}"


class JsonRefused(Refused):
    """Raised for a message in JSON that is refused."""

    def __init__(self, refusal: JsonRefusal) -> None:
        super().__init__(str(refusal))
        self.refusal: Final = refusal
