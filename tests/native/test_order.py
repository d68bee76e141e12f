"""R5c: what comes by a new way of its source waits for what went the old one, and with it all behind it on its link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tamis.native import Admission, EventType, Switch, SwitchOptions, Table
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import NO_EXTENSIONS, ExtensionType, Route, RouteMode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tests.native.test_switch import admission, output, subscribing

ME, CLIENT, OLD, NEW, SOURCE, OTHER, NOBODY, ROOT, ROOT_OF_OTHERS = 1, 7, 20, 30, 40, 50, 60, 70, 80
HOLD_MS, WAIT_MS = 2_000, 250


def message(source: int, counter: int, root: int | None = None) -> bytes:
    """The message of a publisher at `source` that entered there under this number, and goes along the tree of `root` or
    (None) of its source."""
    content = Message({"n": counter}, b"", MessageId(source + 1, counter))
    route = NO_EXTENSIONS if root is None else {ExtensionType.ROUTE: Route(RouteMode.TREE, (root,))}
    transit = Transit(source, 1, counter)
    return encode_data(DataFrame(FrameKind.PUBLISH, content, hop_limit=5, transit=transit, extensions=route))


class Router:
    """One client that wants everything, and links to OLD and NEW, which both bring messages of SOURCE and OTHER."""

    def __init__(self, lazily: bool, root: int | None) -> None:
        self.tables = Table(), Table()
        self.switch = Switch(self.tables[0], SwitchOptions(ME, 2, 10, 10, 9))
        self.switch.join(self.tables[1], 10)
        self.client = self._opened(admission(CLIENT))
        link = Admission(OLD, 1 << 20, 0, 0, 1 << 20, 0, is_link=True)
        self.links = {number: self._opened(replace(link, number=number)) for number in (OLD, NEW)}
        self.switch.subscribe(self.switch.subscriber_of(self.client), subscribing(1, "exists n"), 10)
        self.is_lazy, self.root = lazily, root
        self.generations: list[tuple[int, int]] = []
        self.reroute(OLD, 0)

    def _opened(self, let_in: Admission) -> int:
        connection = self.switch.open()
        assert connection is not None
        self.switch.admit(connection, let_in)
        return connection

    def reroute(self, parent: int, wait_ms: int = WAIT_MS) -> None:
        """SOURCE lies behind `parent`, OTHER behind NEW."""
        generation = self.switch.begin_routes(9)
        self.generations.append((generation, parent))
        self.switch.route(generation, ME, None, {SOURCE: parent, OTHER: NEW})
        if not self.is_lazy:
            self._route(generation, parent)
        self.switch.commit(HOLD_MS, wait_ms)

    def _route(self, generation: int, parent: int) -> None:
        if self.root is not None:
            for root in (self.root, ROOT_OF_OTHERS):
                assert self.switch.route_tree(generation, root, {SOURCE: parent, OTHER: NEW}, {})
        self.switch.route(generation, SOURCE, parent, {})
        self.switch.route(generation, OTHER, NEW, {})

    def comes(self, by: int, *counters: int, source: int = SOURCE, root: int | None = None) -> list[int]:
        """What reaches the client by one chunk of a link."""
        frames = (message(source, counter, root or self.root) for counter in counters)
        for event in self.switch.feed(self.links[by], b"".join(frames)):
            if event.type == EventType.UNROUTED:
                for generation, parent in self.generations:
                    self._route(generation, parent)
                self.switch.retake(event.connection, event.frame)
        return self.delivered()

    def delivered(self) -> list[int]:
        frames = [frame for frame in output(self.switch, self.client) if isinstance(frame, DataFrame)]
        return [int(frame.message.attributes["n"]) for frame in frames]  # type: ignore[arg-type]

    def later(self, ms: int) -> list[int]:
        self.switch.advance(ms)
        self.switch.tick()
        return self.delivered()

    def close(self) -> None:
        self.switch.validate()
        self.switch.close()
        for table in self.tables:
            table.close()


@pytest.fixture(name="router", params=["routed", "unrouted", "along a tree", "along an unrouted tree"])
def _router(request) -> Iterator[Router]:
    """With routes for all sources, or none before a message of one has come; the same of the tree of a root."""
    made = Router("unrouted" in request.param, ROOT if "tree" in request.param else None)
    yield made
    made.close()


def test_what_comes_by_the_new_way_does_not_overtake_what_is_on_the_old_one(router):
    assert router.comes(OLD, 1) == [1]
    router.reroute(NEW)
    assert router.comes(NEW, 4, 5) == []
    assert router.comes(OLD, 2, 3) == [2, 3]
    assert router.comes(OLD, 4) == [4]
    assert router.comes(OLD, 5, 6) == [5, 6]
    assert router.comes(NEW, 6) == []
    assert router.later(WAIT_MS) == []
    assert router.comes(NEW, 7, 8) == [7, 8]


def test_a_way_between_the_newest_and_the_oldest_one_waits_for_the_oldest(router):
    router.reroute(NEW)
    router.reroute(NOBODY)
    assert router.comes(NEW, 2) == []
    assert router.comes(OLD, 1, 2) == [1, 2]


def test_a_way_that_is_taken_again_is_the_oldest_one(router):
    router.reroute(NEW)
    router.reroute(OLD)
    assert router.comes(NEW, 2) == []
    assert router.comes(OLD, 1, 2) == [1, 2]


def test_routes_that_end_before_the_wait_does_make_no_way_old(router):
    router.reroute(NEW)
    router.later(HOLD_MS - WAIT_MS + 1)
    router.reroute(OLD)
    assert router.comes(OLD, 2) == []
    assert router.comes(NEW, 1, 2) == [1, 2]


def test_it_waits_for_a_while_only(router):
    router.comes(OLD, 1)
    router.reroute(NEW)
    assert router.comes(NEW, 4) == []
    assert router.comes(NEW, 5, 6) == []
    assert router.later(WAIT_MS) == [4, 5, 6]
    assert router.comes(OLD, 2) == [2], "late, and not lost"


def test_it_waits_for_nobody_who_is_gone(router):
    router.comes(OLD, 1)
    router.reroute(NEW)
    assert router.comes(NEW, 4) == []
    router.switch.end(router.links[OLD], now=True)
    assert router.later(1) == [4]


def test_it_does_not_wait_where_an_old_way_has_broken(router):
    router.comes(OLD, 1)
    router.reroute(NEW, wait_ms=0)
    assert router.comes(NEW, 4) == [4]


def test_what_is_behind_it_on_its_link_waits_too(router):
    router.comes(OLD, 1)
    router.reroute(NEW)
    assert router.comes(NEW, 4) == []
    assert router.comes(NEW, 10, source=OTHER) == []
    assert router.comes(OLD, 2, 3, 4) == [2, 3, 4, 10]


def test_a_source_with_one_way_waits_for_nothing(router):
    router.comes(OLD, 1)
    router.reroute(NEW)
    assert router.comes(NEW, 10, source=OTHER) == [10]


@pytest.mark.parametrize("router", ["routed, along a tree"], indirect=True)
def test_what_comes_by_the_tree_of_another_root_ends_no_wait(router):
    router.comes(OLD, 1)
    router.reroute(NEW)
    assert router.comes(NEW, 4) == []
    assert router.comes(OLD, 5, root=ROOT_OF_OTHERS) == [5], "it says nothing of 2 and 3"
    assert router.comes(OLD, 2, 3) == [2, 3]
    assert router.comes(OLD, 4) == [4]
