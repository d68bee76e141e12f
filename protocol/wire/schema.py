"""Bodies are declared once, as dataclasses or named tuples whose annotations define the encoding of each field.

    class Ping:
        token: U64                                   an int to the type checker, an unsigned 64-bit integer on the wire

A record is a msgpack array of its fields in order. Law: later versions append fields and change nothing else. A reader
skips fields past those it knows; a writer's field that a peer may leave out has a default. A field that version 2 or a
later one appended (`APPENDED`) is written only where it, or one behind it, differs from its default, so a value that
version 1 can express keeps its bytes. A class with a method `keeping` receives the unknown fields in their original
bytes, and they are written again behind its own, since its records are passed on. A value that cannot be decoded cannot
be encoded: both directions check equal bounds, with Refused for values of this program and FrameError for those of
peers.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Protocol, cast, get_args, get_origin, get_type_hints

from tamis.protocol import limits
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.codes import ErrorCode

FIELDS_MAX: Final = 64
"""The most fields of one record, including those appended by later versions."""

REQUIRED: Final = inspect.Parameter.empty
APPENDED: Final = "appended"
"""Marks a field that a version after the first appended: `Annotated[U64, APPENDED]`."""
REST: Final = "rest"
"""Marks an attribute that is not sent as a field: `rest: Annotated[Rest, REST]` holds the fields of later versions."""
Rest = tuple[bytes, ...]
"""Packed fields, in their original bytes."""


class Codec(Protocol):
    """The encoding of one field."""

    def read(self, reader: BodyReader) -> Any:  # noqa: ANN401 - the type is the annotation's
        """Return the value at the cursor; FrameError if there is none."""

    def plain(self, value: Any) -> object:  # noqa: ANN401
        """Return `value` in a form that msgpack packs; Refused if it is outside the bounds."""

    def __str__(self) -> str:
        """Return the name of the type on the reference page."""


@dataclass(frozen=True, slots=True)
class Unsigned:
    bits: int
    least: int = 0

    def read(self, reader: BodyReader) -> int:
        value = reader.scalar()
        if type(value) is not int or not self.least <= value < 1 << self.bits:
            raise FrameError(ErrorCode.MALFORMED, f"{reader.what}: expected {self}, not {_shown(value)}")
        return value

    def plain(self, value: object) -> int:
        if type(value) is int and self.least <= value < 1 << self.bits:
            return value
        if not isinstance(value, int) or isinstance(value, bool) or not self.least <= value < 1 << self.bits:
            raise Refused(f"expected {self}, not {_shown(value)}")
        return int(value)

    def __str__(self) -> str:
        return f"u{self.bits}" + (f" from {self.least}" if self.least else "")


@dataclass(frozen=True, slots=True)
class Text:
    least: int
    most: int

    def read(self, reader: BodyReader) -> str:
        value = reader.scalar()
        if not isinstance(value, str):
            raise FrameError(ErrorCode.MALFORMED, f"{reader.what}: expected {self}, not {_shown(value)}")
        if not self.least <= len(value.encode()) <= self.most:
            raise FrameError(ErrorCode.OVER_LIMIT, f"{reader.what}: expected {self}, not {len(value.encode())}")
        return value

    def plain(self, value: object) -> str:
        try:
            if isinstance(value, str) and self.least <= len(value.encode()) <= self.most:
                return value
        except UnicodeEncodeError:
            pass  # a lone surrogate is refused like any other invalid text
        raise Refused(f"expected {self}, not {_shown(value)}")

    def __str__(self) -> str:
        return f"text of {self.least} to {self.most} bytes"


@dataclass(frozen=True, slots=True)
class Binary:
    least: int
    most: int

    def read(self, reader: BodyReader) -> bytes:
        value = reader.scalar()
        if not isinstance(value, bytes):
            raise FrameError(ErrorCode.MALFORMED, f"{reader.what}: expected {self}, not {_shown(value)}")
        if not self.least <= len(value) <= self.most:
            raise FrameError(ErrorCode.OVER_LIMIT, f"{reader.what}: expected {self}, not {len(value)}")
        return value

    def plain(self, value: object) -> bytes:
        if not isinstance(value, bytes) or not self.least <= len(value) <= self.most:
            raise Refused(f"expected {self}, not {_shown(value)}")
        return value

    def __str__(self) -> str:
        return f"{self.least} bytes" if self.least == self.most else f"{self.least} to {self.most} bytes"


@dataclass(frozen=True, slots=True)
class Flag:
    def read(self, reader: BodyReader) -> bool:
        value = reader.scalar()
        if not isinstance(value, bool):
            raise FrameError(ErrorCode.MALFORMED, f"{reader.what}: expected {self}, not {_shown(value)}")
        return value

    def plain(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise Refused(f"expected {self}, not {_shown(value)}")
        return value

    def __str__(self) -> str:
        return "boolean"


@dataclass(frozen=True, slots=True)
class Choice:
    """A number that selects the meaning of a frame: one that is not listed is refused."""

    options: type[enum.IntEnum]

    def read(self, reader: BodyReader) -> enum.IntEnum:
        value = reader.scalar()
        if type(value) is not int or value not in self.options._value2member_map_:
            raise FrameError(ErrorCode.MALFORMED, f"{reader.what}: expected {self}, not {_shown(value)}")
        return self.options(value)

    def plain(self, value: object) -> int:
        if not isinstance(value, self.options):
            raise Refused(f"expected {self}, not {_shown(value)}")
        return value.value

    def __str__(self) -> str:
        return f"u8: {', '.join(f'{option.value} {option.name}' for option in self.options)}"


@dataclass(frozen=True, slots=True)
class Many:
    item: Codec
    least: int
    most: int

    def read(self, reader: BodyReader) -> tuple[Any, ...]:
        return tuple([self.item.read(reader) for _ in range(reader.array(self.least, self.most))])

    def plain(self, value: Iterable[object]) -> list[object]:
        items = list(value)
        if not self.least <= len(items) <= self.most:
            raise Refused(f"expected {self}, not {len(items)}")
        return list(map(self.item.plain, items))

    def __str__(self) -> str:
        return f"list of {self.least} to {self.most}: {self.item}"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record; `default` is REQUIRED if it has none. `plain_default`: the default as its codec packs
    it."""

    name: str
    codec: Codec
    default: object
    plain_default: object
    is_appended: bool

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


class Record:
    """The codec of a declared class. Its fields are known after the class is, so they are not in the constructor."""

    def __init__(self, of: type) -> None:
        self.of = of
        self.fields = tuple(_fields(of))
        self._durables_rest = hasattr(of, "keeping")
        self._required = sum(field.required for field in self.fields)
        self._is_fixed = not self.fields[-1].is_appended

    def read(self, reader: BodyReader) -> Any:  # noqa: ANN401
        count = self.enter(reader)
        return self.made([self._read_field(field, reader) for field in self.fields[:count]], count, reader)

    def enter(self, reader: BodyReader) -> int:
        """Enter the record at the cursor; return how many fields it has."""
        return reader.array(self._required, FIELDS_MAX)

    def made(self, values: list[object], count: int, reader: BodyReader) -> Any:  # noqa: ANN401
        """Return the record of `values`, the first of its `count` fields; the other fields are stored or skipped."""
        rest = tuple([reader.skip() for _ in range(count - len(values))])
        try:
            made = self.of(*values)
            return made.keeping(rest) if rest and self._durables_rest else made
        except Refused as error:
            raise FrameError(ErrorCode.MALFORMED, f"{reader.what}: {error}") from None

    def plain(self, value: object) -> list[object]:
        if not isinstance(value, self.of):
            raise Refused(f"expected {self}, not {_shown(value)}")
        plain = []
        for field in self.fields if self._is_fixed else self.written(value):
            own = getattr(value, field.name)
            try:
                plain.append(field.plain_default if own is field.default else field.codec.plain(own))
            except Refused as error:
                raise Refused(f"{field.name} of {self}: {error}") from None
        return plain

    def rest(self, value: Any) -> Rest:  # noqa: ANN401
        """Return the fields of later versions behind those of `value`."""
        return getattr(value, "rest", ()) if self._durables_rest else ()

    def written(self, value: object) -> tuple[Field, ...]:
        """Return the fields to write for `value`: all but appended ones at the end that have their defaults."""
        count = len(self.fields)
        if self._is_fixed or self.rest(value):
            return self.fields
        while (field := self.fields[count - 1]).is_appended and getattr(value, field.name) == field.default:
            count -= 1
        return self.fields[:count]

    def _read_field(self, field: Field, reader: BodyReader) -> object:
        try:
            return field.codec.read(reader)
        except FrameError as error:
            raise FrameError(error.code, f"{field.name} of {error.problem}") from None

    def __str__(self) -> str:
        return self.of.__name__


@dataclass(frozen=True, slots=True)
class Between:
    """The bounds on the number of elements of a tuple."""

    least: int
    most: int


def record_of(declared: type) -> Record:
    """Return the codec of a declared class; it is made once."""
    if declared not in _RECORDS:
        _RECORDS[declared] = Record(declared)
    return _RECORDS[declared]


_RECORDS: Final[dict[type, Record]] = {}


def _fields(declared: type) -> Iterable[Field]:
    hints = get_type_hints(declared, include_extras=True)
    if issubclass(declared, tuple):  # the constructor of a named tuple may have further arguments
        hints |= get_type_hints(declared.__new__, include_extras=True)
    for parameter in inspect.signature(declared).parameters.values():
        hint = hints[parameter.name]
        if REST in getattr(hint, "__metadata__", ()):
            continue
        codec, default = _codec_of(hint), parameter.default
        plain = None if default is REQUIRED else codec.plain(default)
        yield Field(parameter.name, codec, default, plain, APPENDED in getattr(hint, "__metadata__", ()))


def _codec_of(hint: Any) -> Codec:  # noqa: ANN401
    if get_origin(hint) is Annotated:
        declared, extra = get_args(hint)[:2]
        if isinstance(extra, Between):
            return Many(_codec_of(get_args(declared)[0]), extra.least, extra.most)
        return _codec_of(declared) if extra is APPENDED else cast("Codec", extra)
    if hint is bool:
        return Flag()
    return Choice(hint) if issubclass(hint, enum.IntEnum) else record_of(hint)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


U8 = Annotated[int, Unsigned(8)]
U16 = Annotated[int, Unsigned(16)]
U32 = Annotated[int, Unsigned(32)]
U64 = Annotated[int, Unsigned(64)]
PositiveU32 = Annotated[int, Unsigned(32, least=1)]
PositiveU64 = Annotated[int, Unsigned(64, least=1)]
Name = Annotated[str, Text(1, limits.NAME_BYTES_MAX)]
DialectName = Annotated[str, Text(0, limits.DIALECT_BYTES_MAX)]
Sentence = Annotated[str, Text(0, limits.TEXT_BYTES_MAX)]
Nonce = Annotated[bytes, Binary(limits.NONCE_BYTES, limits.NONCE_BYTES)]
Digest = Annotated[bytes, Binary(limits.DIGEST_BYTES, limits.DIGEST_BYTES)]
PackedFilter = Annotated[bytes, Binary(1, limits.FILTER_BYTES_MAX)]
PackedProgram = Annotated[bytes, Binary(0, limits.RESIDUAL_BYTES_MAX)]
