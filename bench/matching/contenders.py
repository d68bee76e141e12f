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
from tamis.native import Table, engine_spelled
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
    """An engine with its rounds, if it has that option, and other options that were asked for; or `library:NAME`, which
    has no table of ours."""

    engine: str
    rounds: int | None = None
    options: tuple[tuple[str, int | str], ...] = ()

    @property
    def variant(self) -> str:
        """All but the rounds."""
        return self.engine + "".join(f" {name}={value}" for name, value in self.options)

    @property
    def label(self) -> str:
        return self.variant if self.rounds is None else f"{self.variant} r={self.rounds}"

    @property
    def library(self) -> str | None:
        return self.engine.removeprefix(libraries.PREFIX) if self.engine.startswith(libraries.PREFIX) else None

    def table(self) -> Table:
        options: dict[str, int | str] = {
            **dict(self.options),
            **({} if self.rounds is None else {"rounds": self.rounds}),
        }
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
    """One contender for each engine, spelled `NAME` or `NAME:OPTION=VALUE:...`, or for each number of rounds if it has
    that option and does not say its own; LibraryMissing says what to install."""
    chosen: list[Contender] = []
    known = (*Table.engines(), *(libraries.PREFIX + name for name in libraries.NAMES))
    for asked in engines:
        spelled = libraries.present_name(asked)
        if spelled not in known and spelled.partition(":")[0] not in known:
            raise ValueError(f"no engine {asked!r}; one of {', '.join(known)}")
        if name := Contender(spelled).library:
            libraries.check_installed(name)
            chosen.append(Contender(spelled))
            continue
        engine, options = engine_spelled(spelled)
        engine.values(options)  # says what is wrong with an option before anything is measured
        others = tuple((name, value) for name, value in options.items() if name != "rounds")
        if "rounds" not in engine.options:
            chosen.append(Contender(engine.name, None, others))
        else:
            counts = [int(options["rounds"])] if "rounds" in options else list(rounds)
            for count in counts:
                engine.values({"rounds": count})
            chosen.extend(Contender(engine.name, count, others) for count in counts)
    return tuple(dict.fromkeys(chosen))
