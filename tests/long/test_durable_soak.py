"""Kills of a router, its publishers and its consumers under load: nothing confirmed is missing, or comes as two."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.long.durable_judge import Soaked, judged, read_consumed, read_published
from tests.long.durable_soak import BOUNDED, Soak, SoakPlan

SENT = ["sent 1", "sent 2", "sent 3", "confirmed 1 a-1", "confirmed 3 a-3", "done"]
GOT = ["got p 1 a-1 11 1", "got p 2 a-2 12 1", "got p 3 a-3 13 1"]
BOUND = ["got p 3 a-3 13 1", "gap QUEUE_FULL 1 2"]


def verdict(
    sent: list[str] = SENT, shared: list[str] = GOT, ordered: list[str] = GOT, bound: list[str] = BOUND
) -> Soaked:
    durables = {"shared": read_consumed([shared[:1], shared[1:]]), "ordered": read_consumed([ordered])}
    return judged({"p": read_published(sent)}, durables, read_consumed([bound]), {"ordered"})


def test_the_judge_finds_nothing_where_all_is_well() -> None:
    again = [GOT[0], GOT[1], "got p 1 a-1 11 2", GOT[2]]
    found = verdict(ordered=again)
    assert (found.faults, found.confirmed, found.again, found.lost) == ([], 2, 1, 2)


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ({"shared": GOT[:2]}, "shared misses 1 that were confirmed to p, such as [3]"),
        ({"ordered": GOT[:2], "shared": [*GOT]}, "ordered misses 1"),
        ({"shared": [*GOT, "got p 2 a-9 14 1"]}, "shared has 2 of p as a-2 and as a-9"),
        ({"ordered": [GOT[1], GOT[0], GOT[2]]}, "ordered has 1 of p behind 2"),
        ({"shared": [*GOT, "got p 4 a-4 14 1"]}, "shared has 1 that were never published"),
        ({"shared": [*GOT, "got q 1 b-1 14 1"]}, "shared has 1 that were never published"),
        ({"shared": [*GOT, "gap EXPIRED 1 1"]}, "shared has lost 1 (EXPIRED)"),
        ({"bound": ["got p 3 a-3 13 1", "gap QUEUE_FULL 1 1"]}, "bounded misses 2, and its Gaps say 1"),
        ({"bound": [*BOUND, "gap QUEUE_FULL 1 3"]}, "bounded misses 2, and its Gaps say 3"),
        ({"bound": [*BOUND, "got p 4 a-4 14 1"]}, "bounded has 1 that no other subscription has"),
        ({"sent": SENT[:-1]}, "p did not end by itself"),
        ({"sent": [*SENT, "failed 2 PublishRefused why"]}, "p: not confirmed: 2 PublishRefused why"),
        ({"ordered": [*GOT, "failed 0 DurableRefused why"]}, "ordered: 0 DurableRefused why"),
    ],
)
def test_the_judge_finds_what_is_planted(planted: dict[str, list[str]], said: str) -> None:
    assert any(said in fault for fault in verdict(**planted).faults)


@pytest.mark.long
async def test_twenty_kills(tmp_path: Path) -> None:
    soak = Soak(SoakPlan(kills=20, seed=21), tmp_path, print)
    found = await soak.run()
    print(soak.killed, found)
    assert found.faults == []
    assert sum(soak.killed.values()) == 20
    assert found.confirmed > 2_000
    assert found.lost >= found.confirmed - BOUNDED
