"""Who owns what a client makes: the name of a line of the token file.

Law: a client owns by a line whose token it has shown. Who comes in by the token of anybody owns under the name that it
gives, also where that looks like the name of another line and more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

SUB_NAMES_BEGIN: Final = "/"


def principal_of(name: str, is_listed: Callable[[str], bool]) -> str:
    """Return `name` if it is listed, else the part before the first `/` if that is listed, else `name`."""
    before, slash, _ = name.partition(SUB_NAMES_BEGIN)
    return before if slash and not is_listed(name) and is_listed(before) else name
