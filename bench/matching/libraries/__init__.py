"""Other people's matchers, given the same filters and messages as our engines.

    rules.py    filters and messages in the form that every library is given
    sqlite.py duckdb.py hyperscan.py zen.py cel.py    one adapter each; lists.py is what the last two share
    contest.py  one library in a process of its own, held to the answers of `tamis`, and to a time

Law: a library is measured on exactly the filters it can express, and `tamis` on the same ones; how operators were
rewritten is said beside the figures. Each is used as its manual advises for speed, and its input is prepared outside
the clock.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from tamis.bench.matching.libraries.rules import Rule, Subject
from tamis.protocol.errors import TamisError

PREFIX = "library:"
OLD_PREFIX = "peer:"
"""As it was called up to version 0.1; it is still taken."""
_MODULES = {"sqlite": "sqlite3", "duckdb": "duckdb", "hyperscan": "hyperscan", "zen": "zen", "cel": "cel"}
_PACKAGES = {
    "duckdb": "duckdb pyarrow",
    "hyperscan": "hyperscan",
    "zen": "zen-engine",
    "cel": "common-expression-language",
}
NAMES = tuple(_MODULES)


class LibraryMissing(TamisError, ValueError):
    """A library that is not installed, with the command that installs it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"library {name} is not installed; install it with: pip install {_PACKAGES[name]}")


class Library(Protocol):
    """An adapter. `rewritten` says what became of the operators, `cannot` what is left out; both are printed."""

    rewritten: ClassVar[str]
    cannot: ClassVar[str]

    @property
    def version(self) -> str: ...

    def expresses(self, rule: Rule) -> bool: ...

    def build(self, rules: Sequence[Rule], interfaces: Sequence[int]) -> None: ...

    def prepare(self, subjects: Sequence[Subject]) -> Any:  # noqa: ANN401 - each library has its own form of messages
        """The messages as the library wants them; outside the clock."""

    def match(self, prepared: Any) -> list[set[int]]:  # noqa: ANN401 - see prepare
        """The interfaces that want each message."""


def present_name(engine: str) -> str:
    """The name of an engine as it is called now: `peer:NAME` is `library:NAME`, any other is what it is."""
    is_old = engine.startswith(OLD_PREFIX)
    return PREFIX + engine.removeprefix(OLD_PREFIX) if is_old else engine


def is_installed(name: str) -> bool:
    """ValueError if there is no such library."""
    if name not in NAMES:
        raise ValueError(f"no library {name!r}; one of {', '.join(NAMES)}")
    return importlib.util.find_spec(_MODULES[name]) is not None


def check_installed(name: str) -> None:
    if not is_installed(name):
        raise LibraryMissing(name)


def load(name: str) -> Library:
    """A new, empty matcher."""
    check_installed(name)
    module = importlib.import_module(f"tamis.bench.matching.libraries.{name}")
    made: Library = module.Adapter()
    return made
