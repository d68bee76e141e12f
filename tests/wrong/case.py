"""A wrong input, and what its answer has to name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

ROUTER = "@router"
"""In a command line: where the clients of the running router connect."""
ADMIN = "@admin"
"""In a command line: its administration."""
CLOSED = "@closed"
"""In a command line: a port of this machine at which nothing listens."""


@dataclass(frozen=True, slots=True)
class Case:
    """`words` are a command line without `tamis`, or one Python expression about `client` and `tamis`. `files` stand in
    the folder where it runs; None is a folder. The answer has to name one of `where`, and one of `allowed` where there
    are some."""

    mutation: str
    words: tuple[str, ...]
    where: tuple[str, ...]
    allowed: tuple[str, ...] = ()
    files: Mapping[str, bytes | None] = field(default_factory=lambda: MappingProxyType({}))
    modes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    stdin: bytes = b""
    is_call: bool = False

    @property
    def shown(self) -> str:
        import shlex

        return self.words[0] if self.is_call else f"tamis {shlex.join(self.words)}"


@dataclass(frozen=True, slots=True)
class Answer:
    """`code` is None where no answer came in time."""

    code: int | None
    out: str
    err: str
