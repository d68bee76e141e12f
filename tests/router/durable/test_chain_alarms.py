"""A router that is behind, a bound that is nearly reached and a doubt are told to the operator, until they end."""

from __future__ import annotations

from collections.abc import Iterator

from tamis.cli.network.durable_lines import durable_lines
from tamis.router.daemon.health import Health
from tamis.router.durable.arriving_chains import MissedOf
from tamis.router.durable.chain_alarms import SILENT_S, ChainAlarms
from tamis.router.durable.departing_chains import HomeStanding

BEHIND, NEARLY_FULL = "custody: b is behind", "custody: b is nearly full"


class Chains:
    """The chains of a router as a test sets them."""

    def __init__(self) -> None:
        self.full, self.silent_s, self.doubts = 0.0, 0.0, 0

    def standings(self) -> Iterator[tuple[str, HomeStanding]]:
        yield "b", HomeStanding(1, 1_000, self.full, self.silent_s, 0, 0, 0)

    def missed(self) -> Iterator[tuple[str, MissedOf]]:
        yield "c", MissedOf(0, self.doubts)


def test_conditions_are_problems_until_they_end_and_alarms_when_they_begin() -> None:
    now_s = [0.0]
    health, chains = Health(lambda: now_s[0]), Chains()
    alarms = ChainAlarms(health)
    for full, silent_s, problems, count in (
        (0.79, SILENT_S - 1, set(), 0),
        (0.81, SILENT_S, {BEHIND, NEARLY_FULL}, 2),
        (0.71, SILENT_S + 1, {BEHIND, NEARLY_FULL}, 2),
        (0.69, 0.0, set(), 2),
        (0.81, SILENT_S, {BEHIND, NEARLY_FULL}, 2),
        (0.0, 0.0, set(), 2),
    ):
        chains.full, chains.silent_s = full, silent_s
        alarms.look(chains)
        assert (health.problems.keys(), health.alarms, health.unready) == (problems, count, {})
    now_s[0] += SILENT_S
    chains.full = 1.0
    alarms.look(chains)
    assert (health.problems.keys(), health.alarms) == ({NEARLY_FULL}, 3)
    assert "1,000 bytes wait for router b" in health.recent[-1].text


def test_each_doubt_is_an_alarm() -> None:
    health, chains = Health(), Chains()
    alarms = ChainAlarms(health)
    for doubts, count in ((0, 0), (1, 1), (1, 1), (3, 2)):
        chains.doubts = doubts
        alarms.look(chains)
        assert (health.alarms, health.problems) == (count, {})
    assert "router c no longer has messages" in health.recent[-1].text


def test_the_status_shows_who_is_behind_by_how_much_and_since_when() -> None:
    log = {"bytes": 9, "bytes_max": 10, "is_failed": False, "is_full": False, "missing": 0, "is_tight": False}
    form = {"depth": 0, "subscriptions": 0, "log": log, "commit_ms": {"p50": None}}
    behind = {"router": "c", "bytes": 3 << 20, "full": 0.751, "silent_s": 125.0, "given_up": 0}
    lines = durable_lines("a", {"durable": form | {"behind": [behind, behind | {"given_up": 1}]}})
    waits = "a stores 3.0 MiB for c, which has acknowledged none of it for 2 min 5 s: 75% of the bound"
    assert [*lines][2:] == [waits, waits + "; 1 message given up"]
