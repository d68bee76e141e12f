"""What a command needs beyond the thin client.

Law: a package that is not installed is named, with the command that installs it; an error in our own code stays one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

_OF_ROUTER = frozenset({"h11", "pydantic", "rich", "yaml"})


@contextlib.contextmanager
def router_extra(what: str) -> Iterator[None]:
    """Around the imports of what comes with `tamis[router]`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _OF_ROUTER:
            raise
        raise click.ClickException(f"{what} need {error.name}: pip install 'tamis[router]'") from error
