"""The results of a run, for people and for programs.

Law: both forms have equal counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from tamis.simulate.run import Outcome

VIOLATIONS_SHOWN = 10
_HEAD = ("operations", "messages", "delivered", "required at rest", "required in motion", "missing")
_GROUPS = {"operations": "did ", "control frames": "sent "}
"""Heading -> the prefix of the counts that are printed on one line under it."""


def for_programs(outcome: Outcome, seconds: float) -> dict[str, Any]:
    scenario = {name: value for name, value in asdict(outcome.scenario).items() if value not in (None, False)}
    return scenario | {
        "routers": outcome.routers,
        "counts": outcome.counts,
        "violations": [violation._asdict() for violation in outcome.violations],
        "digest": outcome.digest,
        "virtual_s": round(outcome.virtual_s, 3),
        "seconds": round(seconds, 2),
        "replay": outcome.scenario.command(),
    }


def for_people(outcome: Outcome, seconds: float) -> str:
    counts = Counter(outcome.counts)
    operations, messages, delivered, at_rest, in_motion, missing = (counts[key] for key in _HEAD)
    lines = [
        _line(
            "run",
            f"{outcome.routers} routers, {operations:,} operations, {outcome.virtual_s:,.0f} s in {seconds:.1f} s",
        ),
        _line("messages", f"{messages:,} published, {delivered:,} deliveries judged"),
        _line("must arrive", f"{at_rest:,} at rest, {in_motion:,} during changes; missing {missing:,}"),
    ]
    besides = {key: count for key, count in counts.items() if key not in _HEAD}
    for title, prefix in _GROUPS.items():
        group = {key: besides.pop(key) for key in counts if key.startswith(prefix)}
        lines.append(_line(title, _listed({key.removeprefix(prefix): count for key, count in group.items()})))
    return "\n".join([*lines, _line("besides", _listed(besides)), _line("trace", outcome.digest)])


def _line(title: str, words: str) -> str:
    return f"{title:16} {words}"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{key} {count:,}" for key, count in counts.items())


def violations(outcome: Outcome) -> str:
    found = outcome.violations
    lines = [str(violation) for violation in found[:VIOLATIONS_SHOWN]]
    if (more := outcome.counts.get("violations", 0) - len(lines)) > 0:
        lines.append(f"and {more:,} more")
    return "\n".join(lines)
