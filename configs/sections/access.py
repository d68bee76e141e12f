"""The key `access` of a topology file: rules of access, or the file that has them.

Law: the topology knows whether there are rules, and where; `tamis.configs.access` reads them, and reports their
mistakes.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

from tamis.configs.fields import read_path


def _read(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        return read_path(value, info)
    if not isinstance(value, dict):
        raise ValueError("must be a mapping with `roles`, or the path of a file with them")
    return value


AccessOrFile = Annotated[str | dict[str, Any], BeforeValidator(_read, json_schema_input_type=str | dict[str, Any])]
