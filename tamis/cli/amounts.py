"""Times and sizes as options.

Law: an invalid value is refused before a connection is made; the text is passed unchanged to the client, which parses
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import click

from tamis.protocol.errors import Refused

TIMES: Final = "a time such as 30s, 15m, 12h and 7d"
Given = str | tuple[str, ...] | None
"""Text; the texts of an option that may be given several times; None if the option was not given."""
Checked = Callable[[click.Context, click.Parameter, Given], Given]


def checked(read: Callable[[str, str], int], forms: str, word: str | None = None) -> Checked:
    """Return a callback that refuses text which `read` refuses, and turns `word` into None."""

    def check(_ctx: click.Context, _param: click.Parameter, value: Given) -> Given:
        for text in (value,) if isinstance(value, str) else value or ():
            try:
                if text != word:
                    read("it", text)
            except Refused:
                raise click.BadParameter(f"expected {forms}, not {text!r}") from None
        return None if value == word else value

    return check
