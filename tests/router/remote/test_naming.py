"""What a client means by the name of a durable subscription."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.protocol.wire.home_bodies import StatedCopy, StatedDurable
from tamis.router.durable.copies import are_copies
from tamis.router.durable.refusals import RequestRefused
from tamis.router.remote.naming import Meant, meant


class Homes:
    """What three other routers state; `gone` is not in the topology file any more."""

    STATED: ClassVar = {"orders": ("rome", "oslo"), "bills": ("rome",), "bills@oslo": ("rome",), "old": ("gone",)}

    def at(self, name: str) -> list[tuple[str, StatedDurable]]:
        return [each for each in self.everywhere(name) if each[0] != "bern"]

    def everywhere(self, name: str) -> list[tuple[str, StatedDurable]]:
        if name in COPIES:
            return [(home, copy(name, made_ms)) for home, made_ms in COPIES[name].items()]
        return [(home, stated(name)) for home in self.STATED.get(name, ())]


COPIES = {"jobs": {"bern": 900, "oslo": 0, "rome": 3_000}, "again": {"bern": 4_000, "oslo": 9_000, "rome": 900}}
"""Durable subscriptions with the homes oslo, rome and bern, and when each has made its copy."""


def stated(name: str) -> StatedDurable:
    return StatedDurable(name, "maker", (b"x",), 0, 0, 0)


def copy(name: str, made_ms: int, *, owner: str = "maker") -> StatedDurable:
    of = StatedCopy(("oslo", "rome", "bern"), made_ms, DurablePolicy((b"x",)), ())
    return StatedDurable(name, owner, (b"x",), 0, 0, 0, (of,))


def found(name: str, *, away: tuple[str, ...] = ()) -> Meant | None:
    own = ("own", "bills@rome", "jobs", "again")
    return meant(name, "bern", own, ("rome", "oslo"), Homes(), lambda router: router not in away)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("own", Meant("own")),
        ("own@bern", Meant("own")),
        ("bills", Meant("bills", "rome", stated("bills"))),
        ("orders@oslo", Meant("orders", "oslo", stated("orders"))),
        ("bills@rome", Meant("bills@rome")),  # a durable subscription here has this whole name
        ("bills@oslo", Meant("bills@oslo", "rome", stated("bills@oslo"))),
        ("bills@bern", None),
        ("orders@gone", None),
        ("old", None),
        ("@rome", None),
        ("nothing", None),
    ],
)
def test_a_name_means(name: str, expected: Meant | None) -> None:
    assert found(name) == expected


def test_a_name_that_several_routers_have_needs_the_router() -> None:
    with pytest.raises(RequestRefused, match="routers rome and oslo have a durable subscription 'orders'"):
        found("orders")


@pytest.mark.parametrize(
    ("name", "away", "home"),
    [
        ("jobs", (), "oslo"),
        ("jobs@rome", (), "oslo"),
        ("jobs@bern", ("oslo",), "rome"),
        ("jobs", ("oslo", "rome"), ""),
        ("again", (), "rome"),  # the two others were made again, bern earlier
        ("again", ("rome",), ""),
    ],
)
def test_of_copies_the_first_in_reach_serves_and_a_younger_one_last(
    name: str, away: tuple[str, ...], home: str
) -> None:
    each = found(name, away=away)
    assert each is not None
    assert (each.name, each.home) == (name.partition("@")[0], home)


def test_a_name_at_a_router_that_is_no_home_means_nothing() -> None:
    assert found("jobs@gone") is None


def test_what_differs_is_no_copy() -> None:
    one = copy("jobs", 0)
    assert are_copies([("oslo", one), ("rome", copy("jobs", 5))])
    assert not are_copies([("oslo", one), ("rome", copy("jobs", 0, owner="other"))])
    assert not are_copies([("oslo", one), ("gone", one)])
    assert not are_copies([("oslo", stated("jobs")), ("rome", stated("jobs"))])
