"""What a command needs beyond the thin client.

Law: a package that is not installed is named, with the command that installs it; an error in our own code stays one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

_OF_ROUTER = frozenset({"h11", "pydantic", "rich", "yaml"})
_OF_ANALYSIS = frozenset({"numpy", "pandas", "pyarrow", "pyspark", "rich"})


def router_extra(what: str) -> contextlib.AbstractContextManager[None]:
    """Around the imports of what comes with `tamis[router]`."""
    return _extra(what, "router", _OF_ROUTER)


def analysis_extra() -> contextlib.AbstractContextManager[None]:
    """Around the imports of what comes with `tamis[analysis]`."""
    return _extra("analyses", "analysis", _OF_ANALYSIS)


@contextlib.contextmanager
def _extra(what: str, extra: str, packages: frozenset[str]) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in packages:
            raise
        raise click.ClickException(f"{what} need {package}: pip install 'tamis[{extra}]'") from error
