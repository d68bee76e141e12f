"""Principals: the owner of durable subscriptions of a client, the name of a line of the token file.

Law: a client owns under the name of a line only if it has sent the token of that line. A client admitted by the token
for any name owns under its own name, even if that begins with the name of a line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

SUB_NAMES_BEGIN: Final = "/"


def principal_of(name: str, is_listed: Callable[[str], bool]) -> str:
    """Return `name` if it is listed, else the part before the first `/` if that is listed, else `name`."""
    before, slash, _ = name.partition(SUB_NAMES_BEGIN)
    return before if slash and not is_listed(name) and is_listed(before) else name
