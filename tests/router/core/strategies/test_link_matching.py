"""Strategy link-matching: every distinct filter is stated, covered or not, and none is brought back."""

from __future__ import annotations

from tamis.protocol.wire.routing_bodies import ReceiverAdvertisement
from tamis.router.core.core import Core, CoreSettings
from tamis.router.core.events import FiltersAdded, FiltersRemoved
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.router.core.times import S
from tests.router.core.bodies import less
from tests.router.core.single import Single
from tests.router.core.world import COVERING


def stating(name: str) -> Single:
    def make(me: str, epoch: int, settings: CoreSettings) -> Core:
        return STRATEGIES[name].core(me, epoch, settings, instead=COVERING)

    single = Single(core=make)  # type: ignore[arg-type]
    single.joins("a", "b")
    single.waits(5 * S)
    return single


def said(single: Single) -> list[tuple[int, int, int]]:
    """What it advertised to a since this was asked last: filters that came, that went, and how many there are now."""
    return [(len(body.added), len(body.removed), body.count) for body in single.took(ReceiverAdvertisement, "a")]


def history(strategy: str) -> list[list[tuple[int, int, int]]]:
    """What is said as a wide filter comes beside a narrow one that two clients have, and goes again."""
    single = stating(strategy)
    said(single)
    narrow, wide = less(1), less(2)
    steps = []
    for event in (
        FiltersAdded((narrow, narrow)),
        FiltersAdded((wide,)),
        FiltersRemoved((wide,)),
        FiltersRemoved((narrow,)),
    ):
        single.handle(event)
        for _ in range(10):
            single.core.work(single.now_us)
            single.waits(S)
        steps.append(said(single))
    return steps


def test_a_covered_filter_stays_and_a_subscription_that_ends_says_one_thing():
    assert history("link-matching") == [[(1, 0, 1)], [(1, 0, 2)], [(0, 1, 1)], []]
    assert history("advertise") == [[(1, 0, 1)], [(1, 0, 2), (0, 1, 1)], [(1, 0, 2), (0, 1, 1)], []]
