"""The audit against the simulator's account: who wanted which message when it came, and who got it."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.questions.standing import LOCAL_US, MUST, OUTSIDE, REASONS, SUBSCRIPTION, UNREACHABLE, UNREST
from tamis.analysis.study import SETTLE_US
from tamis.simulate.nodes.node import DATA_BYTES
from tests.analysis.accounts.told import Pair, Said, got, reference_ahead_us, wanted
from tests.analysis.accounts.ways import unsteady
from tests.analysis.conftest import Simulated, Tables

pytestmark = pytest.mark.long


def test_each_delivery_that_was_wanted_or_made_has_a_verdict(tables: Tables, simulated: Simulated) -> None:
    homes = {(asked["client"], asked["session"]): asked["router"] for asked in simulated.truth["wants"]["asked"]}
    delivered, others = got(simulated), Counter[tuple[str, str]]()
    assert len(delivered) == simulated.outcome.counts["delivered"]
    for pair, want in wanted(tables, simulated).items():
        others[want.router, f"c{pair.client}"] += pair not in delivered
    right = Counter((homes[pair.client, pair.session], f"c{pair.client}") for pair in delivered)
    for row in tables["delivery/by_client"]:
        where = row["router"], row["client"]
        assert (row["missing"], row["duplicate"], row["stray"]) == (0, 0, 0)
        assert (row["delivered"], row["dropped"] + row["undecided"]) == (right[where], others[where]), where
    rows = {(row["router"], row["client"]) for row in tables["delivery/by_client"]}
    assert rows == (+right).keys() | (+others).keys()


def test_verdicts(tables: Tables, simulated: Simulated) -> None:
    """With their reasons, and how many of them were due."""
    standings, delivered = standings_of(tables, simulated), got(simulated)
    deliveries, due = Counter[tuple[str, str | None]](), Counter[tuple[str, str | None]]()
    for pair in standings.keys() | delivered:
        standing = standings.get(pair, OUTSIDE)
        verdict = ("delivered", None) if pair in delivered else ("undecided", REASONS[standing])
        deliveries[verdict] += 1
        due[verdict] += standing == MUST
    found = {(row["verdict"], row["reason"]): (row["deliveries"], row["due"]) for row in tables["delivery/counts"]}
    assert found == {verdict: (count, due[verdict]) for verdict, count in deliveries.items()}
    assert {REASONS[each] for each in (UNREACHABLE, UNREST, SUBSCRIPTION)} == {reason for _, reason in found} - {None}


def test_most_of_what_must_arrive_at_rest_is_due(tables: Tables, simulated: Simulated) -> None:
    """Not what is said within the time that a dead link may go unnoticed before the next change."""
    due = sum(row["due"] for row in tables["delivery/counts"])
    assert due > simulated.outcome.counts["required at rest"] / 2


def standings_of(tables: Tables, simulated: Simulated) -> dict[Pair, int]:
    """What was promised of each delivery that somebody had asked for. The logs are whole."""
    errors_us = {row["router"]: row["error_us"] for row in tables["logs/clocks"]}
    moving, ahead_us = unsteady(tables, simulated), reference_ahead_us(simulated)
    found = {}
    for pair, want in wanted(tables, simulated).items():
        source, at_us = want.said.router, want.said.at_us + ahead_us
        margin_us = LOCAL_US if want.is_home else SETTLE_US + errors_us[source] + errors_us[want.router]
        found[pair] = MUST if want.sure_us >= margin_us else SUBSCRIPTION
        if not want.is_home and want.router not in reach(simulated, want.said):
            found[pair] = UNREACHABLE
        elif not want.is_home and any(begin <= at_us <= end for begin, end in moving[source, want.router]):
            found[pair] = UNREST
    return found


def reach(simulated: Simulated, message: Said) -> list[str]:
    """Of the source, when the message came."""
    seen: list[str] = []
    for topology in simulated.truth["changes"]["topologies"]:
        is_its_own = (topology["router"], topology["epoch"]) == (message.router, message.epoch)
        if is_its_own and topology["at_us"] <= message.at_us:
            seen = topology["reach"]
    return seen


def test_nothing_is_wrong(tables: Tables) -> None:
    """Here; what is planted is found in `test_faults.py`."""
    assert tables["delivery/faults"] == []


def test_frames_in_vain(tables: Tables, simulated: Simulated) -> None:
    crossed, vain = (simulated.truth["messages"][name] for name in ("crossed", "vain"))
    rows = {
        f"{row['from_neighbour']} {row['router']}": (row["frames"], row["in_vain"], row["bytes_in_vain"])
        for row in tables["delivery/in_vain"]
    }
    assert rows == {link: (frames, vain[link], vain[link] * DATA_BYTES) for link, frames in crossed.items()}
