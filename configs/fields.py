"""The types of single values in a topology file: ids, addresses, paths, and short forms.

Law: a value is text, or the object that the text stands for; its type validates it, raises errors in words that can
follow "must be", and has its form in the JSON schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from tamis.configs.address import ADDRESSES_MAX, FORMS, Address, check_path, joined, parse_address
from tamis.protocol.amounts import milliseconds_of, octets_of
from tamis.protocol.errors import Refused

ID_FORM = r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$"
_BARE_NUMBER: Final = re.compile(r"\s*[+-]?[0-9_]*\.?[0-9]*\s*")
HOST_NAME_FORM = r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$"
SIZE_FORM = r"^[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB)$"
TIME_FORM = r"^[0-9]+(\.[0-9]+)? ?(ms|s|m|h|d)$"
_FALSE = frozenset({"false", "no", "off", "n", "f", "0"})
"""Texts that stand for `false`."""
ADDRESS_FORM = r"^(unix:.+|\[[0-9A-Fa-f:.]+\]:[0-9]{1,5}|[A-Za-z0-9._-]+:[0-9]{1,5})$"


def _check_id(value: object) -> object:
    if not isinstance(value, str) or not re.fullmatch(ID_FORM, value, re.ASCII):
        raise ValueError("must be 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter, digit or `_`")
    return value


def _read_address(value: object, info: ValidationInfo) -> object:
    if isinstance(value, Address):
        return value
    if not isinstance(value, str):
        raise ValueError(f"must be {FORMS}")
    return parse_address(value, _folder(info))


def read_path(value: object, info: ValidationInfo) -> object:
    """Return the path that text stands for, from the folder of the file being read; other values unchanged."""
    if isinstance(value, str):
        check_path(value)
        return joined(_folder(info), value)
    return value


def _folder(info: ValidationInfo) -> str:
    """Return the folder of the file being read, at which relative paths start."""
    return str((info.context or {}).get("folder", ""))


def _read_version(value: object) -> object:
    return 1 if value == "1" else value


def _listed(value: object) -> object:
    if not isinstance(value, str | Address | list | tuple):
        raise ValueError("must be an address or a list of addresses")
    return [value] if isinstance(value, str | Address) else value


def _check_host_name(value: object) -> object:
    if not isinstance(value, str) or not re.fullmatch(HOST_NAME_FORM, value, re.ASCII):
        raise ValueError("must be host or host:port")
    return value


def read_octets(value: object) -> object:
    """Return the bytes that text with a unit stands for; other values unchanged."""
    return _with_unit(value, octets_of, 1, "bytes, or a size such as 64 MiB and 4 GiB")


def _read_milliseconds(value: object) -> object:
    return _with_unit(value, milliseconds_of, 1, "milliseconds, or a time such as 300ms, 30s, 5m and 2h")


def _read_seconds(value: object) -> object:
    return _with_unit(value, milliseconds_of, 1_000, "seconds, or a time such as 30s, 5m, 2h and 7d")


def _with_unit(value: object, read: Callable[[str, str], int], unit: int, forms: str) -> object:
    """Return the number of `unit`s that text with a unit stands for; other values unchanged."""
    if not isinstance(value, str) or _BARE_NUMBER.fullmatch(value):
        return value
    try:
        number, rest = divmod(read("it", value), unit)
    except Refused:
        rest = number = 0
    if rest or not number:
        raise ValueError(f"must be a whole number of {forms}")
    return number


class _OrText:
    """Adds to the JSON schema of a number that text of a form is accepted, too."""

    def __init__(self, form: str) -> None:
        self._form = form

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "string", "pattern": self._form}]}


def named(value: object) -> object:
    """Return the section that a name stands for; other values unchanged."""
    return {"name": value} if isinstance(value, str) else value


def is_off(value: object) -> bool:
    """Return whether `value`, of a file or of a model, is False or a text that stands for it."""
    return value is False or (isinstance(value, str) and value.lower() in _FALSE)


def with_ends(value: object) -> object:
    """Return the link that a list of two ids stands for; other values unchanged."""
    if isinstance(value, str):
        raise ValueError("must be two router ids, [a, b], or a mapping, {ends: [a, b], cost: 2}")
    return {"ends": value} if isinstance(value, list | tuple) else value


def _check_pair(value: object) -> object:
    if isinstance(value, list | tuple) and len(value) != 2:
        cost = f"; a cost is written {{ends: [{value[0]}, {value[1]}], cost: {value[2]}}}" if _has_cost(value) else ""
        raise ValueError(f"must be two router ids, [a, b], got {len(value)}{cost}")
    return value


def _has_cost(link: list[object] | tuple[object, ...]) -> bool:
    texts = [part for part in link if isinstance(part, str) and len(part) <= 64 and part.isprintable()]
    return len(texts) == len(link) == 3 and texts[2].isdecimal()


IdText = Annotated[str, Field(pattern=ID_FORM)]
_WrittenAddress = Annotated[str, Field(pattern=ADDRESS_FORM)]

Id = Annotated[str, BeforeValidator(_check_id, json_schema_input_type=IdText)]
OneAddress = Annotated[Address, BeforeValidator(_read_address, json_schema_input_type=_WrittenAddress)]
Addresses = Annotated[
    tuple[OneAddress, ...],
    Field(max_length=ADDRESSES_MAX),
    BeforeValidator(_listed, json_schema_input_type=_WrittenAddress | list[_WrittenAddress]),
]
_HostName = Annotated[str, BeforeValidator(_check_host_name), Field(pattern=HOST_NAME_FORM)]
HostNames = Annotated[
    tuple[_HostName, ...],
    Field(max_length=ADDRESSES_MAX),
    BeforeValidator(_listed, json_schema_input_type=_HostName | list[_HostName]),
]
Octets = Annotated[int, BeforeValidator(read_octets), _OrText(SIZE_FORM)]
"""Bytes: a number, or text such as `64 MiB`."""
Milliseconds = Annotated[int, BeforeValidator(_read_milliseconds), _OrText(TIME_FORM)]
"""Milliseconds: a number, or text such as `30s`."""
Seconds = Annotated[int, BeforeValidator(_read_seconds), _OrText(TIME_FORM)]
"""Seconds: a number, or text such as `1h`."""
Folder = Annotated[str, BeforeValidator(read_path, json_schema_input_type=str)]
File = Folder
"""A path, like Folder; the router checks whether the file exists."""
Pair = Annotated[tuple[Id, Id], BeforeValidator(_check_pair)]
Version = Annotated[Literal[1], BeforeValidator(_read_version, json_schema_input_type=Literal[1])]
