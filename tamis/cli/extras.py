"""The packages that some commands need beyond those of the client.

Law: the error for a package that is not installed names it, and the command that installs it; an error in Tamis itself
is passed on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

_OF_ROUTER = frozenset({"httptools", "pydantic", "rich", "yaml"})
_OF_ANALYSIS = frozenset({"numpy", "pandas", "pyarrow", "pyspark", "rich"})


def router_extra(what: str) -> contextlib.AbstractContextManager[None]:
    """Wrap the imports of packages that `tamis[router]` installs."""
    return _extra(what, "router", _OF_ROUTER)


def parquet_extra() -> contextlib.AbstractContextManager[None]:
    """Wrap what reads or writes records as columns, which `tamis[parquet]` installs."""
    return _extra("records as columns (.parquet)", "parquet", frozenset({"pyarrow"}))


def analysis_extra() -> contextlib.AbstractContextManager[None]:
    """Wrap the imports of packages that `tamis[analysis]` installs."""
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
