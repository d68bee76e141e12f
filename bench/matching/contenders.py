"""Who is measured, and on what: an engine with its options or a library, and the setting that all of them share.

Law: every contender of a setting sees the same filters, messages and interfaces.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from tamis.bench.matching import libraries, workloads
from tamis.bench.matching.workloads import Workload
from tamis.native import Table, engines_with
from tamis.protocol.errors import TamisError
from tamis.protocol.limits import MATCH_STEPS_MAX

PASSES: Final = 7
SFF_ROUNDS: Final = (0, 10)  # paper 004 compares exactly these
_HASH_SEED: Final = 2003  # fixed: equal tables then take equal steps and instructions in every run

Progress = Callable[[str], None]


class EnginesDisagree(TamisError):
    """Two engines answered differently: a bug, and no figure of the run is worth anything."""


@dataclass(frozen=True, slots=True)
class Contender:
    """An engine, with options or without (`sff:circuit=each`), and, if it has that option, its rounds; or
    `library:NAME`, which has no table of ours."""

    engine: str
    rounds: int | None = None

    @property
    def label(self) -> str:
        return self.engine if self.rounds is None else f"{self.engine} r={self.rounds}"

    @property
    def library(self) -> str | None:
        return self.engine.removeprefix(libraries.PREFIX) if self.engine.startswith(libraries.PREFIX) else None

    def table(self) -> Table:
        options = {} if self.rounds is None else {"rounds": self.rounds}
        return Table(self.engine, hash_seed=_HASH_SEED, match_steps=MATCH_STEPS_MAX, options=options)


@dataclass(frozen=True, slots=True)
class Setup:
    """What to run. `interface_count` None is one interface per filter; `group_count` groups the interfaces."""

    workload: str
    filter_count: int
    interface_count: int | None
    message_count: int
    name_count: int
    seed: int
    contenders: tuple[Contender, ...]
    group_count: int | None = None
    passes: int = PASSES

    @property
    def interfaces(self) -> int:
        return self.interface_count or max(self.filter_count, 1)

    @property
    def grouping(self) -> list[int] | None:
        return None if self.group_count is None else [i % self.group_count for i in range(self.interfaces)]

    def make(self) -> Workload:
        return workloads.make(self.workload, self.filter_count, self.message_count, self.name_count, self.seed)

    def deal(self) -> array[int]:
        """The interface of each filter."""
        return workloads.deal(self.workload, self.filter_count, self.interfaces, self.seed)


def contenders(engines: Iterable[str], rounds: Iterable[int] = SFF_ROUNDS) -> tuple[Contender, ...]:
    """One contender for each engine, or for each number of rounds if it has that option; LibraryMissing says what to
    install."""
    chosen: list[Contender] = []
    with_rounds = engines_with("rounds")
    known = (*Table.engines(), *(libraries.PREFIX + name for name in libraries.NAMES))
    for asked in engines:
        engine = libraries.present_name(asked)
        base = engine if engine in known else engine.partition(":")[0]
        if base not in known:
            raise ValueError(f"no engine {asked!r}; one of {', '.join(known)}")
        if name := Contender(engine).library:
            libraries.check_installed(name)
        is_several = base in with_rounds and ":rounds=" not in engine
        several = [Contender(engine, count) for count in rounds] if is_several else [Contender(engine)]
        for each in several if base in Table.engines() else []:
            each.table().close()  # says what is wrong with an option before anything is measured
        chosen.extend(several)
    return tuple(dict.fromkeys(chosen))
