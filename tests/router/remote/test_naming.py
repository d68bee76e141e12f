"""What a client means by the name of a durable subscription."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tamis.protocol.wire.home_bodies import StatedDurable
from tamis.router.durable.refusals import RequestRefused
from tamis.router.remote.naming import Meant, meant


class Homes:
    """What three other routers state; `gone` is not in the topology file any more."""

    STATED: ClassVar = {"orders": ("rome", "oslo"), "bills": ("rome",), "bills@oslo": ("rome",), "old": ("gone",)}

    def at(self, name: str) -> list[tuple[str, StatedDurable]]:
        return [(home, stated(name)) for home in self.STATED.get(name, ())]


def stated(name: str) -> StatedDurable:
    return StatedDurable(name, "maker", (b"x",), 0, 0, 0)


def found(name: str) -> Meant | None:
    return meant(name, "bern", ("own", "bills@rome"), ("rome", "oslo"), Homes())


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
