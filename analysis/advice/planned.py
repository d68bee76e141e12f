"""Estimates from the traffic for an order of attributes, which engines find by themselves, and for the reuse of matches
by keys (`reuse: keys`), which is for experiments. Routers decide by themselves on sets of routers (`reuse:
destinations`).

Law: nothing here edits the file. The output is an estimate from the traffic, with its cost model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tamis.analysis.advice.wording import GAIN_MIN, Advice, Evidence

NAMES_SHOWN: Final = 5
EXCLUDED_MIN: Final = 0.1
"""Share of all filters that the first name looked for must exclude; excluding fewer is not worth the look."""
LOOKUP_NS: Final = 50
"""Time of a probe for a key in a table outside the cache: some half a cache miss, as probes go together."""
CARRIED_NS: Final = 100
"""Time to write a list of keys into a frame and to read it again."""
COMPLETE: Final = 0.9
"""Share of messages whose keys must all fit under the threshold; the others are matched again."""
FROM_PAPER: Final = 60
"""The threshold proposed where COMPLETE would need more keys: paper 001 found 60 to 80 to bring most of the gain."""


def order(evidence: Evidence) -> Iterator[Advice]:
    names = evidence.exclusions
    now = "each engine's own"
    if fixed := _by_the_alphabet(evidence):
        now = f"by the alphabet at {', '.join(fixed)}"
    if len(names) < 2 or names[0]["excluded"] < EXCLUDED_MIN:
        why = "filters constrain fewer than two names" if len(names) < 2 else _order_told(evidence)
        yield Advice("order", "order of attributes", "nothing to change", now, f"{why}; no order would save much")
        return
    then = ", ".join(row["name"] for row in names[:NAMES_SHOWN])
    why = f"{_order_told(evidence)}: {then}. Engines sff and interval order by themselves, tamis puts each filter "
    why += "under its rarest test, and pst first tests the names of most filters, unless it has `order: names`"
    yield Advice("order", "order of attributes", "nothing to change", now, why)


def _by_the_alphabet(evidence: Evidence) -> list[str]:
    """Return the routers whose engine `pst` has a fixed order, independent of the traffic."""
    settings = {router: evidence.topology.router(router).engine for router in evidence.topology.routers}
    return [router for router, engine in settings.items() if engine.options.get("order") == "names"]


def _order_told(evidence: Evidence) -> str:
    shown = (
        f"{row['name']} is in {row['in_messages']:.0%} of messages and {row['in_filters']:.0%} of filters"
        for row in evidence.exclusions[:NAMES_SHOWN]
    )
    first = evidence.exclusions[0]
    return f"{'; '.join(shown)}; looking for {first['name']} first excludes {first['excluded']:.0%} of all filters"


def reuse(evidence: Evidence) -> Iterator[Advice]:
    total = evidence.totals[0] if evidence.totals else None
    if len(evidence.topology.routers) == 1 or not evidence.keys or total is None or not total["downstream_ns"]:
        why = "no match times after a first router: nothing to reuse, or no records of it"
        yield Advice("reuse", "reuse threshold", "nothing to change", "never", why)
        return
    row = next((row for row in evidence.keys if row["complete"] >= COMPLETE), None)
    row = row or next(row for row in evidence.keys if row["threshold"] >= FROM_PAPER)
    look = total["downstream_ns"]
    left = (1 - row["complete"]) + (CARRIED_NS + row["keys"] * LOOKUP_NS) / look
    told = (
        f"{row['complete']:.0%} of messages satisfy at most {row['threshold']} filters, {row['keys']:.3g} on average; "
    )
    told += f"a match after the first router takes {look / 1_000:.3g} us, a key about {LOOKUP_NS / 1_000:.3g}, "
    told += (
        f"their list {CARRIED_NS / 1_000:.3g}; with `reuse: destinations` routers measure whether a set of routers pays"
    )
    if 1 - left < GAIN_MIN:
        yield Advice(
            "reuse", "reuse threshold", "nothing to change", "never", f"{told}: keys would cost as much as they save"
        )
        return
    promise = f"match time after the first router {look / 1_000:.3g} -> {left * look / 1_000:.3g} us"
    yield Advice(
        "reuse",
        "reuse threshold",
        "for experiments",
        "never",
        told,
        f"reuse: keys, keys_max: {row['threshold']}",
        promise,
    )
