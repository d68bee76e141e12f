"""The choice of engine, and of its number of rounds.

Law: a promise is the match time in the logs, times the ratio of two engines on the same messages and filters here. It
is made only where the logs are of the engine that the file names, and the router uses an engine at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tamis.analysis.advice.wording import GAIN_MIN, Advice, Contender, Edits, Evidence
from tamis.configs import Topology
from tamis.configs.edit import Path, Value
from tamis.native import DEFAULT_ENGINE, ENGINES

SAVED_NS_MIN: Final = 50
"""The least gain of a message, in nanoseconds: a message costs a router some 400 ns whatever the engine, and an eighth
of that makes no difference."""
NOISE: Final = 0.1
"""The share by which passes of one engine differ on a busy machine."""
SFF: Final = "sff"
SFF_ROUNDS: Final = ENGINES[SFF].options["rounds"].standard
"""Rounds of `sff` if the file does not set them."""
FIGURE: Final = "match ns a message"


@dataclass(frozen=True, slots=True)
class Setting:
    """One place in the file that names an engine, and its routers."""

    path: Path
    now: Contender
    routers: tuple[str, ...]

    @property
    def option(self) -> str:
        return ".".join(self.path)

    @property
    def rounds(self) -> str:
        return f"{self.option}.options.rounds"

    def with_rounds(self, rounds: int | None) -> Edits:
        """Return the change of the rounds; they do not stay where files of the version before have them."""
        return {(*self.path, "options", "rounds"): rounds, (*self.path, "rounds"): None}


@dataclass(frozen=True, slots=True)
class Fit:
    """The time of a match: by the logs, and for each contender as measured here."""

    logged_ns: float
    here_ns: dict[Contender, float]
    filters: int
    messages: int

    def promised(self, now: Contender, then: Contender) -> float:
        return self.logged_ns * self.here_ns[then] / self.here_ns[now]

    def best(self, among: Sequence[Contender]) -> Contender:
        """Return the best contender. Among those that differ by no more than NOISE it is the default engine, or the one
        with the fewest rounds."""
        least = min(self.here_ns[each] for each in among)
        level = [each for each in among if self.here_ns[each] <= least * (1 + NOISE)]
        return min(level, key=lambda each: (each.engine != DEFAULT_ENGINE, each.rounds or 0, self.here_ns[each]))


def settings(topology: Topology) -> list[Setting]:
    own = [router for router, each in topology.routers.items() if each.engine is not None]
    general = tuple(router for router in topology.routers if router not in own)
    paths: list[tuple[Path, tuple[str, ...]]] = [(("engine",), general)] if general else []
    paths += [(("routers", router, "engine"), (router,)) for router in own]
    return [Setting(path, contender(topology, routers[0]), routers) for path, routers in paths]


def contender(topology: Topology, router: str) -> Contender:
    engine = topology.router(router).engine
    if engine.name != SFF:
        return Contender(engine.name)
    return Contender(SFF, int(engine.options.get("rounds", SFF_ROUNDS)))


def engine(evidence: Evidence) -> Iterator[Advice]:
    for setting in settings(evidence.topology):
        fit = _fit(evidence, setting)
        if isinstance(fit, str):
            yield Advice("engine", setting.option, "nothing to change", str(setting.now), fit)
        else:
            yield _engine(setting, fit)


def rounds(evidence: Evidence) -> Iterator[Advice]:
    for setting in settings(evidence.topology):
        option = setting.rounds
        if setting.now.engine != SFF:
            yield Advice("rounds", option, "nothing to change", "none", f"engine {setting.now} has no rounds")
            continue
        fit = _fit(evidence, setting)
        now = f"{setting.now.rounds}"
        yield Advice("rounds", option, "nothing to change", now, fit) if isinstance(fit, str) else _rounds(setting, fit)


def _engine(setting: Setting, fit: Fit) -> Advice:
    now, best = setting.now, fit.best(list(fit.here_ns))
    named = ("engine", setting.option)
    figures = (FIGURE, fit.logged_ns)
    if best.engine == now.engine or not _is_worth_it(fit, now, best):
        return Advice(*named, "nothing to change", str(now), _told(fit, now, best), None, None, *figures)
    promised = fit.promised(now, best)
    section: Value = best.engine if best.rounds is None else {"name": best.engine, "options": {"rounds": best.rounds}}
    return Advice(
        *(*named, "change", str(now), _told(fit, now, best), str(best)),
        *(_promise(fit, promised), *figures, promised, {setting.path: section}),
    )


def _rounds(setting: Setting, fit: Fit) -> Advice:
    now, option = setting.now, setting.rounds
    best = fit.best([each for each in fit.here_ns if each.engine == SFF])
    figures = (FIGURE, fit.logged_ns)
    others = fit.best(list(fit.here_ns))
    if others.engine != SFF and _is_worth_it(fit, now, others):
        why = f"another engine is better; with sff, {best.rounds} would be best: {_told(fit, now, best)}"
    elif not _is_worth_it(fit, now, best):
        why = _told(fit, now, best)
    else:
        promised = fit.promised(now, best)
        return Advice(
            *("rounds", option, "change", f"{now.rounds}", _told(fit, now, best), f"{best.rounds}"),
            *(_promise(fit, promised), *figures, promised, setting.with_rounds(best.rounds)),
        )
    return Advice("rounds", option, "nothing to change", f"{now.rounds}", why, None, None, *figures)


def _is_worth_it(fit: Fit, now: Contender, then: Contender) -> bool:
    saved = fit.logged_ns - fit.promised(now, then)
    return saved >= max(GAIN_MIN * fit.logged_ns, SAVED_NS_MIN)


def _fit(evidence: Evidence, setting: Setting) -> Fit | str:
    """Return the time of a match at the setting's routers, or a sentence with the reason why it is unknown."""
    times = {row["router"]: row for row in evidence.match_times if row["router"] in setting.routers}
    if not times:
        return "no match times in the logs: no messages were recorded at its routers, or the routers were simulated"
    other = {each for router in times if (each := evidence.engines.get(router)) and each != setting.now.engine}
    if other:
        return f"the logs are of engine {' and '.join(sorted(other))}, the file has {setting.now}: record again with it"
    rows = [row for row in evidence.trials if row["router"] in times]
    if not rows:
        return "other routers, where matching takes longer, were tried instead"
    here: dict[Contender, float] = {}
    asked = {row["router"] for row in rows if row["engine"] is not None}
    if not asked:
        most = max(row["filters"] + row["remote_filters"] for row in rows)
        return f"so few filters ({most}) are evaluated one after the other, without an engine"
    weights = {router: times[router]["messages"] for router in asked}
    total = sum(weights.values())
    for row in rows:
        if row["engine"] is not None:
            tried = Contender(row["engine"], row["rounds"])
            here[tried] = here.get(tried, 0.0) + row["match_ns"] * weights[row["router"]] / total
    if setting.now not in here:
        return f"no router runs engine {setting.now}, so there is nothing to compare with"
    logged = sum(times[router]["match_ns"] * weight for router, weight in weights.items()) / total
    filters = max(row["filters"] + row["remote_filters"] for row in rows)
    return Fit(logged, here, filters, total)


def _told(fit: Fit, now: Contender, best: Contender) -> str:
    seen = f"a match took {_us(fit.logged_ns)} us over {fit.messages:,} messages in the logs"
    tried = f"on the same messages and {fit.filters:,} filters, {now} takes {_us(fit.here_ns[now])} us here"
    if best == now:
        return f"{seen}; {tried}, and no other engine takes less"
    return f"{seen}; {tried}, {best} {_us(fit.here_ns[best])} us"


def _promise(fit: Fit, promised: float) -> str:
    return f"match time a message {_us(fit.logged_ns)} -> {_us(promised)} us"


def _us(ns: float) -> str:
    return f"{ns / 1_000:,.3g}"
