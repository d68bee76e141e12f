"""The audit against the simulator's account: who wanted which message when it came, and who got it."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.delivery import LOG, REASONS, UNREACHABLE
from tamis.simulate.node import DATA_BYTES
from tests.analysis.accounts.told import Said, got, said, wanted
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
    """What must arrive at rest is due mostly: not what is said within the time that a dead link may go unnoticed."""
    counts, by_client = Counter[str](), Counter[str]()
    for row in tables["delivery/counts"]:
        counts[row["verdict"]] += row["deliveries"]
    for row in tables["delivery/by_client"]:
        by_client.update({verdict: row[verdict] for verdict in ("delivered", "dropped", "undecided")})
    assert counts == +by_client
    due = {row["verdict"]: row["due"] for row in tables["delivery/counts"] if row["due"]}
    assert due.keys() <= {"delivered", "dropped"}
    assert sum(due.values()) > simulated.outcome.counts["required at rest"] / 2


def test_reasons(tables: Tables, simulated: Simulated) -> None:
    """The logs are whole; and a router is out of reach where the source did not know of it."""
    reasons = Counter({row["reason"]: row["deliveries"] for row in tables["delivery/counts"] if row["reason"]})
    assert REASONS[LOG] not in reasons
    delivered = got(simulated)
    apart = sum(
        pair not in delivered and not want.is_home and want.router not in reach(simulated, want.said)
        for pair, want in wanted(tables, simulated).items()
    )
    assert reasons[REASONS[UNREACHABLE]] == apart > 0


def reach(simulated: Simulated, message: Said) -> list[str]:
    """Of the source, when the message came."""
    seen: list[str] = []
    for topology in simulated.truth["changes"]["topologies"]:
        is_its_own = (topology["router"], topology["epoch"]) == (message.router, message.epoch)
        if is_its_own and topology["at_us"] <= message.at_us:
            seen = topology["reach"]
    return seen


def test_what_was_dropped_is_listed(tables: Tables, simulated: Simulated) -> None:
    dropped = set(map(tuple, simulated.truth["messages"]["dropped"]))
    by_id = {(message.publisher, message.number): message for message in said(simulated)}
    lost = {(pair[:2], f"c{pair.client}") for pair in wanted(tables, simulated).keys() - got(simulated)}
    for row in tables["delivery/faults"]:
        message = by_id[int(row["origin"], 16), row["number"]]
        assert row["verdict"] == "dropped"
        assert (message.publisher, message.number) in dropped
        assert row["source"] == message.router
        assert ((message.publisher, message.number), row["client"]) in lost
    listed = sum(row["deliveries"] for row in tables["delivery/counts"] if row["verdict"] == "dropped")
    assert len(tables["delivery/faults"]) == listed


def test_frames_in_vain(tables: Tables, simulated: Simulated) -> None:
    crossed, vain = (simulated.truth["messages"][name] for name in ("crossed", "vain"))
    rows = {
        f"{row['from_neighbour']} {row['router']}": (row["frames"], row["in_vain"], row["bytes_in_vain"])
        for row in tables["delivery/in_vain"]
    }
    assert rows == {link: (frames, vain[link], vain[link] * DATA_BYTES) for link, frames in crossed.items()}
