"""What a run has found, for people and for programs.

Law: figures that were not measured are left out, not made up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict

from tamis.bench.networks.chaos.faults import Outcome
from tamis.bench.networks.chaos.run import Found, Plan
from tamis.bench.tables import markdown

_FIGURES = ("others back", "all back", "clients", "linked", "quiet")


def for_programs(plan: Plan, found: Found) -> dict[str, object]:
    return {
        "plan": asdict(plan),
        "clean": found.is_clean,
        "violations": found.violations,
        "counts": found.counts,
        "left": found.left,
        "load": _load(),
        "by_kind": {kind: _summary(of) for kind, of in _by_kind(found).items()},
        "shown": found.shown,
    }


def for_people(plan: Plan, found: Found) -> str:
    head = ["fault", "times", *(f"{name} s: median, p95, worst" for name in _FIGURES), "lost meanwhile: median, worst"]
    rows = [_row(kind, of) for kind, of in _by_kind(found).items()]
    counts = ", ".join(f"{count} {name}" for name, count in sorted(found.counts.items()))
    lines = [markdown(head, rows), "", f"seed {plan.seed}, load of the machine {_load()}: {counts}"]
    lines += [f"time limit reached: {found.left} operations left"] * bool(found.left)
    lines += [f"invariant {number} violated {count} times" for number, count in sorted(found.violations.items())]
    return "\n".join([*lines, *found.shown])


def _by_kind(found: Found) -> dict[str, list[Outcome]]:
    kinds: dict[str, list[Outcome]] = {}
    for outcome in found.outcomes:
        kinds.setdefault(outcome.kind, []).append(outcome)
    return dict(sorted(kinds.items()))


def _summary(outcomes: list[Outcome]) -> dict[str, object]:
    told: dict[str, object] = {
        "times": len(outcomes),
        "flaps": sum(each.flaps for each in outcomes),
        "unmoved_missing": sum(each.unmoved_missing for each in outcomes),
        "problems": [f"{each.target}: {each.problem}" for each in outcomes if each.problem],
    }
    for name, values in _values(outcomes).items():
        if values:
            told[name] = {"median": _at(values, 0.5), "p95": _at(values, 0.95), "worst": max(values)}
    return told


def _values(outcomes: list[Outcome]) -> dict[str, list[float]]:
    firsts = [each.first for each in outcomes if each.first is not None]
    seconds = [each.second for each in outcomes if each.second is not None]
    return {
        "others back": _rounded(each.back_s for each in firsts),
        "all back": _rounded(each.back_s for each in seconds),
        "clients": _rounded(each.clients_s for each in outcomes if each.clients_s is not None),
        "linked": _rounded(each.linked_s for each in outcomes if each.linked_s is not None),
        "quiet": _rounded(each.quiet_s for each in outcomes if each.quiet_s is not None),
        "lost during it": [each.missing for each in firsts],
        "slowest route": _rounded(each.slowest_s for each in seconds),
    }


def _row(kind: str, outcomes: list[Outcome]) -> list[str]:
    values = _values(outcomes)
    shown = [_three(values[name]) for name in _FIGURES]
    lost = values["lost during it"]
    return [kind, str(len(outcomes)), *shown, f"{_at(lost, 0.5):g}, {max(lost):g}" if lost else ""]


def _three(values: list[float]) -> str:
    return f"{_at(values, 0.5):.2f}, {_at(values, 0.95):.2f}, {max(values):.2f}" if values else ""


def _at(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(value, 3) for value in values]


def _load() -> float:
    return round(os.getloadavg()[0], 1)
