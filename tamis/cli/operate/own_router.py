"""The router of `tamis up` without a file: one router on the default ports, with its data in the state folder.

Law: each such start writes the file again, so it always fits this version; commands that take a topology file use this
one if none is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

NAME: Final = "default"
TEXT: Final = """\
# Written by `tamis up` without a file, and overwritten each time: copy it to change it. `tamis example` prints others.

name: default
data: default-data

routers:
  a:
    clients: 127.0.0.1:7400
    admin: 127.0.0.1:7600
"""


def own_file() -> Path:
    """Return the path of the file, which need not exist."""
    from tamis.cli.extras import router_extra

    with router_extra("routers"):
        from tamis.router.supervisor.state import state_home
    return state_home() / f"{NAME}.yaml"


def write_own_file() -> str:
    """Write the file, and return its path."""
    file = own_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = file.with_suffix(".new")
    fresh.write_text(TEXT)
    fresh.replace(file)
    return str(file)


def file_or_own(_context: click.Context, _argument: click.Parameter, file: str | None) -> Any:  # noqa: ANN401 - click's
    """Return, as a click callback, the given file, or that of `tamis up` without one."""
    return file if file is not None else str(own_file())
