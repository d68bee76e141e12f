"""The types of single values in a topology file: ids, addresses, paths, and the short forms people write.

Law: a value arrives as text or as what the text stands for, and leaves checked. Each type says what is wrong in words
that can follow "must be", and names its form in the JSON schema.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationInfo

from tamis.configs.address import ADDRESSES_MAX, FORMS, Address, check_path, joined, parse_address

ID_FORM = r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$"
HOST_NAME_FORM = r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$"
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


def _read_path(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        check_path(value)
        return joined(_folder(info), value)
    return value


def _folder(info: ValidationInfo) -> str:
    """Return the folder at which relative paths start: that of the file being read."""
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


def named(value: object) -> object:
    """Return the section that a name alone stands for; other values as they are."""
    return {"name": value} if isinstance(value, str) else value


def with_ends(value: object) -> object:
    """Return the link that a list of two ids stands for; other values as they are."""
    return {"ends": value} if isinstance(value, list | tuple) else value


def _check_pair(value: object) -> object:
    if isinstance(value, list | tuple) and len(value) != 2:
        raise ValueError(f"must be two router ids, [a, b], got {len(value)}")
    return value


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
Folder = Annotated[str, BeforeValidator(_read_path, json_schema_input_type=str)]
File = Folder
"""A path, like Folder; whether a file is there is known only where the router runs."""
Pair = Annotated[tuple[Id, Id], BeforeValidator(_check_pair)]
Version = Annotated[Literal[1], BeforeValidator(_read_version, json_schema_input_type=Literal[1])]
