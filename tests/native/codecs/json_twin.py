"""A message in JSON read by Python's own means: the twin of `native/relay/codecs/json.c` and `lines.c`, with which it
shares no code.

Law: the twin says of every text what C says of it: the same frame, or the same code at the same byte.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Final

from tamis.native.json_refusals import JsonCode
from tamis.protocol.limits import DELIVERABLE_BYTES_MAX
from tamis.protocol.values import Value
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.extensions import NO_EXTENSIONS, ExtensionType

_WHITE: Final = re.compile(rb"[ \t\r\n]*")
_STRING: Final = re.compile(rb'"((?:[^"\\\x00-\x1f]|\\.)*)', re.DOTALL)
_NUMBER_LIKE: Final = re.compile(rb"[-+.0-9eE]+")
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_ESCAPE: Final = re.compile(
    r"\\(?:([\"\\/bfnrt])|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))|(\\)"
)
_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_KEYS: Final = {"attributes": b"{", "payload": b'"', "payload_base64": b'"', "ttl_s": b"-0123456789", "space": b'"'}
_SOCKET: Final = {"op": b'"', "n": b"-0123456789", "confirm": b'"', "binary": b"tf"}
_LEVELS: Final = {"accepted": 1, "stored": 5, "none": 0}
_TTL_MS_MAX: Final = 100 * 365 * 86_400_000
_LINE_BYTES_MAX: Final = 2_097_152


class TwinRefused(Exception):
    def __init__(self, code: JsonCode, position: int, name: str = "") -> None:
        super().__init__(code, position, name)
        self.code, self.position, self.name = code, position, name


class _Text:
    """A cursor over the text."""

    def __init__(self, text: bytes) -> None:
        self.text, self.at, self.name = text, 0, ""

    def refuse(self, code: JsonCode, position: int | None = None) -> TwinRefused:
        about = code >= JsonCode.NUMBER and code not in (JsonCode.NO_ATTRIBUTES, JsonCode.TOO_LARGE)
        return TwinRefused(code, self.at if position is None else position, self.name if about else "")

    def next(self) -> bytes:
        """Step over white space; return the next byte."""
        self.at = _WHITE.match(self.text, self.at).end()  # type: ignore[union-attr]
        if self.at == len(self.text):
            raise self.refuse(JsonCode.ENDS)
        return self.text[self.at : self.at + 1]

    def word(self, word: bytes) -> bool:
        found = self.text.startswith(word, self.at)
        self.at += len(word) if found else 0
        return found

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        assert found is not None
        end = found.end()
        if end == len(self.text) or self.text[end:] == b"\\":
            raise self.refuse(JsonCode.ENDS, len(self.text))
        if self.text[end : end + 1] != b'"':
            raise self.refuse(JsonCode.CONTROL, end)
        first, self.at = self.at + 1, end + 1
        try:
            raw = found[1].decode()
        except UnicodeDecodeError as error:
            raise self.refuse(JsonCode.UTF8, first + error.start) from None
        return _ESCAPE.sub(lambda one: self._unescaped(one, first), raw)

    def _unescaped(self, found: re.Match[str], first: int) -> str:
        letter, high, low, unit, _ = found.groups()
        if letter is not None:
            return _LETTERS[letter]
        if high is not None:
            return chr(0x10000 + (int(high, 16) - 0xD800) * 0x400 + int(low, 16) - 0xDC00)
        position = first + len(found.string[: found.start()].encode())
        if unit is None:
            raise self.refuse(JsonCode.ESCAPE, position)
        if 0xD800 <= int(unit, 16) <= 0xDFFF:
            raise self.refuse(JsonCode.SURROGATE, position)
        return chr(int(unit, 16))

    def number(self) -> int | float:
        first = self.at
        like = _NUMBER_LIKE.match(self.text, first)
        assert like is not None
        if len(like[0]) > 1024:
            raise self.refuse(JsonCode.NUMBER_LONG)
        found = _NUMBER.fullmatch(like[0])
        if found is None:
            raise self.refuse(JsonCode.NUMBER)
        self.at = like.end()
        if found[1] is not None or found[2] is not None:
            return float(like[0])
        return self.bounded(int(like[0]), first)

    def bounded(self, number: int, position: int) -> int:
        if not -(2**63) <= number < 2**63:
            raise self.refuse(JsonCode.INTEGER_RANGE, position)
        return number

    def pairs(self) -> Iterator[tuple[int, str]]:
        """Yield each key of the object at the cursor, with its place; the caller reads its value, behind `colon`."""
        self.at += 1
        if self.next() == b"}":
            self.at += 1
            return
        while True:
            if self.next() != b'"':
                raise self.refuse(JsonCode.NO_KEY)
            place = self.at
            yield place, self.string()
            self.name = ""
            mark = self.next()
            if mark not in (b",", b"}"):
                raise self.refuse(JsonCode.NO_COMMA)
            self.at += 1
            if mark == b"}":
                return
            self.next()

    def colon(self) -> bytes:
        if self.next() != b":":
            raise self.refuse(JsonCode.NO_COLON)
        self.at += 1
        return self.next()

    def attributes(self) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for place, name in self.pairs():
            if len(found) == 64:
                raise self.refuse(JsonCode.TOO_MANY, place)
            self.name = name
            if not 1 <= len(name.encode()) <= 256:
                raise self.refuse(JsonCode.NAME_SIZE, place)
            if name in found:
                raise self.refuse(JsonCode.NAME_TWICE, place)
            found[name] = self.value(self.colon())
        return found

    def value(self, lead: bytes) -> Value:
        first = self.at
        if lead == b'"':
            text = self.string()
            if len(text.encode()) > 65_536:
                raise self.refuse(JsonCode.STRING_SIZE, first)
            return text
        if lead in b"-0123456789":
            number = self.number()
            if not isfinite(number):
                raise self.refuse(JsonCode.FLOAT_RANGE, first)
            return number
        if self.word(b"true") or self.word(b"false"):
            return lead == b"t"
        if lead == b"{":
            return self.integer()
        code = JsonCode.ARRAY if lead == b"[" else JsonCode.NULL if self.word(b"null") else JsonCode.NO_VALUE
        raise self.refuse(code, first)

    def integer(self) -> int:
        """Read `{"integer": "5"}`."""
        brace = self.at
        self.at += 1
        if self.next() != b'"' or self.string() != "integer":
            raise self.refuse(JsonCode.OBJECT, brace)
        lead, place = self.colon(), self.at
        if lead != b'"':
            raise self.refuse(JsonCode.INTEGER_TEXT)
        text = self.string()
        if self.at - place - 2 > 120 or not _INTEGER.fullmatch(text):
            raise self.refuse(JsonCode.INTEGER_TEXT, place)
        number = self.bounded(int(text), place)
        if self.next() != b"}":
            raise self.refuse(JsonCode.INTEGER_TEXT)
        self.at += 1
        return number


@dataclass(frozen=True, slots=True)
class TwinMessage:
    frame: bytes
    flags: int = 0
    n: int | None = None
    binary: bool = False


def read_message(
    text: bytes,
    origin: int,
    counter: int,
    now_ns: int,
    *,
    naming: str = "type",
    frame_bytes_max: int = DELIVERABLE_BYTES_MAX,
    flags: int = 0,
    is_socket: bool = False,
) -> TwinMessage:
    """Return what `JsonReader.read` returns, or raise TwinRefused where it raises JsonRefused."""
    t = _Text(text)
    if t.next() != b"{":
        raise t.refuse(JsonCode.NOT_OBJECT)
    begin, values, places = t.at, dict[str, object](), dict[str, int]()
    for place, key in t.pairs():
        _read_key(t, key, place, _KEYS | (_SOCKET if is_socket else {}), values, places)
    t.at = _WHITE.match(text, t.at).end()  # type: ignore[union-attr]
    if t.at < len(text):
        raise t.refuse(JsonCode.TRAILING)
    if "attributes" not in values:
        raise t.refuse(JsonCode.NO_ATTRIBUTES, begin)
    attributes: dict[str, Value] = values["attributes"]  # type: ignore[assignment]
    if "space" in values and attributes.setdefault(naming, values["space"]) != values["space"]:  # type: ignore[arg-type]
        raise t.refuse(JsonCode.SPACE_DIFFERS, places["space"])
    if len(attributes) > 64:
        raise t.refuse(JsonCode.TOO_MANY, places["space"])
    flags = values.get("confirm", flags)  # type: ignore[assignment]
    extensions = {ExtensionType.EXPIRY: now_ns + values["ttl_s"] * 1_000_000} if "ttl_s" in values else NO_EXTENSIONS  # type: ignore[operator]
    payload = _payload(t, values, places)
    frame = encode_publish(origin, counter, time_ns=now_ns, attributes=attributes, extensions=extensions)
    if len(frame) + len(payload) > frame_bytes_max:
        raise t.refuse(JsonCode.TOO_LARGE, begin)
    size = (len(frame) + len(payload)).to_bytes(4, "little")
    frame = size + frame[4:5] + bytes([flags]) + frame[6:] + payload
    return TwinMessage(frame, flags, values.get("n"), bool(values.get("binary")))  # type: ignore[arg-type]


def _payload(t: _Text, values: dict[str, object], places: dict[str, int]) -> bytes:
    if "payload_base64" not in values:
        return str(values.get("payload", "")).encode()
    coded = str(values["payload_base64"])
    try:
        if len(coded) % 4 == 0:
            return b64decode(coded, validate=True)
    except ValueError:
        pass
    raise t.refuse(JsonCode.BASE64, places["payload_base64"])


def _read_key(
    t: _Text, key: str, place: int, kinds: dict[str, bytes], values: dict[str, object], places: dict[str, int]
) -> None:
    t.name = key
    if key not in kinds:
        raise t.refuse(JsonCode.UNKNOWN_KEY, place)
    if key in values:
        raise t.refuse(JsonCode.KEY_TWICE, place)
    if {"payload", "payload_base64"} <= {*values, key}:
        raise t.refuse(JsonCode.TWO_PAYLOADS, place)
    lead = t.colon()
    first = places[key] = t.at
    if lead not in kinds[key]:
        raise t.refuse(JsonCode.KEY_KIND)
    t.name = ""
    if key == "attributes":
        values[key] = t.attributes()
    elif key in ("ttl_s", "n"):
        values[key] = _number_of(t, key, t.number(), first)
    elif key == "binary":
        if not t.word(b"true") and not t.word(b"false"):
            raise t.refuse(JsonCode.KEY_KIND, first)
        values[key] = lead == b"t"
    else:
        values[key] = _text_of(t, key, t.string(), first)


def _number_of(t: _Text, key: str, number: float, first: int) -> int:
    if key == "n":
        if isinstance(number, float) or number < 0:
            raise t.refuse(JsonCode.KEY_KIND, first)
        return number
    if not 1 <= number * 1_000 <= _TTL_MS_MAX:
        raise t.refuse(JsonCode.TTL, first)
    return round(number * 1_000)


def _text_of(t: _Text, key: str, text: str, first: int) -> object:
    if key == "space" and not 1 <= len(text.encode()) <= 64:
        raise t.refuse(JsonCode.SPACE_SIZE, first)
    if key == "op" and text != "publish":
        raise t.refuse(JsonCode.OTHER_OP, first)
    if key != "confirm":
        return text
    if text not in _LEVELS:
        raise t.refuse(JsonCode.CONFIRM, first)
    return _LEVELS[text]


def place_of(text: bytes, position: int) -> tuple[int, int]:
    """Return line and column of a byte of a text; bytes that begin a character count."""
    *lines, last = text[:position].split(b"\n")
    return len(lines) + 1, sum(byte & 0xC0 != 0x80 for byte in last) + 1


def read_lines(text: bytes, origin: int, counter: int, now_ns: int) -> tuple[bytes, list[tuple[JsonCode, int, int]]]:
    """Return the frames of a whole stream, and code, line and position of what is refused in it."""
    frames, refused = b"", []
    for number, line in enumerate(text.split(b"\n"), 1):
        if len(line) > _LINE_BYTES_MAX:
            refused.append((JsonCode.LINE_LONG, number, 0))
        elif line.strip(b" \t\r"):
            try:
                frames += read_message(line, origin, counter, now_ns).frame
                counter += 1
            except TwinRefused as error:
                refused.append((error.code, number, error.position))
    return frames, refused
