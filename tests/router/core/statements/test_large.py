"""R2, R4: predicates that are too large for one body, with the bound so low that a few filters are."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.wire.numbers import NO_DIGEST, predicate_digest, stable_number
from tamis.protocol.wire.routing_bodies import (
    AdvertisedFilter,
    Entry,
    ReceiverAdvertisement,
    SenderRequest,
    UpdateReply,
)
from tamis.router.core.commands import Alarm, Install
from tamis.router.core.events import Await, FiltersAdded, Heard, Sent
from tamis.router.core.statements import collecting, predicates, rib, sizes
from tamis.router.core.statements.collecting import IncomingPredicate
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.rib import HeldPredicate
from tamis.router.core.timers import Due
from tamis.router.core.times import MS, S
from tests.router.core.bodies import change, entry, less, state, whole
from tests.router.core.graphs import checks
from tests.router.core.single import Single
from tests.router.core.test_core import BODIES
from tests.router.core.world import World

A, B, X = map(stable_number, "abx")
EIGHT = {number: less(7, f"n{number}") for number in range(1, 9)}
NONE: dict[int, bytes] = {}


@pytest.fixture(autouse=True)
def _two_filters_are_one_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "FILTER_OVERHEAD_BYTES", 0)
    monkeypatch.setattr(sizes, "STATEMENT_BYTES_MAX", 2 * len(EIGHT[1]))
    monkeypatch.setattr(sizes, "FILTERS_MAX", 3)


def pieces(said: Entry, step: int = 2) -> list[Entry]:
    total = len(said.filters)
    return [said._replace(filters=said.filters[at : at + step], first=at, total=total) for at in range(0, total, step)]


def filters_of(world: World, name: str, issuer: str) -> set[bytes]:
    held = world.cores[name].core_state.rib.entries.get(stable_number(issuer))
    return set(held.filters.values()) if held else set()


def is_tidy(world: World) -> bool:
    """Nothing is left of pieces."""
    return not any(
        core._predicates.collecting or core.core_state.rib.has_scraps or core.core_state.rib._pending_bytes
        for core in world.cores.values()
    )


# --- the issuer


def test_a_large_change_is_stated_in_bounded_bodies_one_after_the_other():
    single = Single()
    single.joins("a")
    single.waits(30 * S)
    single.took(object)
    single.handle(FiltersAdded(tuple(EIGHT.values())))
    for _ in range(8):
        single.waits(2)
        single.handle(Sent(A, 1))
    said = single.took(ReceiverAdvertisement)
    assert [len(body.added) for body in said] == [2, 2, 2, 2]
    assert [body.base_seq for body in said[1:]] == [body.seq for body in said[:-1]]
    assert said[-1].digest == predicate_digest(single.core.core_state.rib.entries[single.core.me].filters.items())


def test_it_goes_on_as_the_links_take_it_and_a_slow_one_costs_a_second_at_most():
    single = Single()
    single.joins("a", "b")
    single.waits(30 * S)
    single.took(object)
    single.handle(FiltersAdded(tuple(EIGHT.values())))
    single.waits(10)
    assert len(single.took(ReceiverAdvertisement, "b")) == 2  # two are on their way, and one link has told nothing
    single.handle(Sent(A, 1))
    single.waits(10)
    assert not single.took(ReceiverAdvertisement)
    single.handle(Sent(B, 1))
    single.waits(10)
    assert len(single.took(ReceiverAdvertisement)) == 1
    single.waits(1 * S)
    assert len(single.took(ReceiverAdvertisement)) == 1


def test_what_goes_away_is_said_when_nothing_new_is_left():
    world = World("a")
    world.want("a", EIGHT[1], EIGHT[2])
    world.run(3 * S)
    own = world.cores["a"]._advertiser.own
    for packed in (EIGHT[1], EIGHT[2]):
        own.unwant(packed, 0)
    for packed in list(EIGHT.values())[2:]:
        own.want(packed)
    own.expire(10 * S)
    own.expire(10 * S)
    issues = [own.issue() for _ in range(4)]
    assert [(len(issue.added), len(issue.removed)) for issue in issues] == [(2, 0), (2, 0), (2, 2), (0, 0)]


def test_a_ticket_waits_for_the_last_body_of_its_change():
    single = Single()
    single.joins("a")
    single.waits(30 * S)
    single.took(object)
    single.handle(FiltersAdded(tuple(EIGHT.values()), ticket=5))
    asked = []
    for _ in range(4):
        asked += [body.confirm for body in single.took(ReceiverAdvertisement)]
        single.waits(2)
        single.handle(Sent(A, 1))
    assert asked == [False, False, False, True]


def test_everybody_knows_all_of_it_and_a_ticket_is_reached_then():
    world = World("abc", ["ab", "bc"])
    world.run(5 * S)
    world.want("a", *EIGHT.values())
    world.handle("a", Await(7))
    while ("a", 7) not in world.reached:
        world.run(1 * MS)
    assert filters_of(world, "c", "a") == set(EIGHT.values())
    world.check()


def test_a_whole_that_is_large_is_announced_and_asked_for():
    world = World("abc", ["ab", "bc"])
    world.want("a", *EIGHT.values())
    world.run(5 * S)
    world.sent.clear()
    world.handle("a", Heard(B, 1, UpdateReply(A, 0, 0, (entry("a", 9, EIGHT, epoch=3),))))  # which a jumps past
    world.run(2 * S)
    assert world.cores["c"].core_state.rib.entries[A].version.epoch > 3
    assert not [body for _, _, body in world.sent if isinstance(body, ReceiverAdvertisement)]
    world.check()
    assert is_tidy(world)


# --- who asks


@pytest.mark.parametrize("version", [1, 2])
def test_a_router_that_starts_gets_all_of_it(version):
    world = World("abc")
    for one, other in ("ab", "bc"):
        world.connect(one, other, version=version)
    world.want("a", *EIGHT.values())
    world.run(5 * S)
    for restarted in "bc":
        world.stop(restarted)
        world.start(restarted, epoch=9)
        for one, other in ("ab", "bc"):
            if restarted in (one, other):
                world.connect(one, other, version=version)
        world.sent.clear()
        world.run(3 * S)
        world.check()
        assert is_tidy(world)
    said = [entry for _, _, body in world.sent if isinstance(body, UpdateReply) for entry in body.entries]
    assert (max(len(entry.filters) for entry in said) == len(EIGHT)) is (version == 1)


def test_an_answer_is_made_as_the_link_takes_it():
    single = Single()
    single.joins("b")
    single.hears("b", state("b", 2, "me", "x"), state("x", 1, "b"), whole("x", 1, EIGHT))
    single.waits(1 * S)
    single.up("a")
    single.took(object)
    request = SenderRequest(A, 1, 1, 0, b"", ())  # type: ignore[arg-type]
    single.hears("a", request)
    assert [entry.first for body in single.took(UpdateReply, "a") for entry in body.entries if entry.total] == [0, 2]
    single.hears("b", change("x", 1, 2, EIGHT, NONE))  # what is being said stays as it was
    for _ in range(4):
        single.handle(Sent(A, 1))
    said = [entry for body in single.took(UpdateReply, "a") for entry in body.entries if entry.total]
    assert [entry.first for entry in said] == [4, 6]
    assert {(entry.seq, entry.digest) for entry in said} == {(1, predicate_digest(EIGHT.items()))}


def test_listing_a_very_large_one_is_two_slices_of_one_version(monkeypatch):
    monkeypatch.setattr(rib, "LISTED_PER_SLICE", 4)
    held = HeldPredicate(Version(1, 1), predicate_digest(EIGHT.items()), dict(EIGHT))
    made = held.as_pieces(X)
    assert next(made) is None
    held.version, held.digest = Version(1, 2), predicate_digest({1: EIGHT[1]}.items())
    held.filters = {1: EIGHT[1]}
    assert [(piece.seq, piece.total) for piece in made if piece] == [(2, 1)]
    held = HeldPredicate(Version(1, 1), predicate_digest(EIGHT.items()), dict(EIGHT))
    made = held.as_pieces(X)
    assert next(made) is None
    held.filters.clear()
    assert list(made) == []


@pytest.mark.parametrize("per_slice", [4, 100])
def test_a_very_large_one_is_asked_for_and_told(monkeypatch, per_slice):
    monkeypatch.setattr(rib, "LISTED_PER_SLICE", per_slice)
    world = World("abc", ["ab"])
    world.want("a", *EIGHT.values())
    world.run(5 * S)
    world.connect("b", "c")
    world.run(5 * S)
    world.check()


def taking(*bodies: object) -> Single:
    single = Single()
    single.joins("a", "b")
    single.waits(1 * S)
    single.took(object)
    for body in bodies:
        single.hears("a", UpdateReply(single.core.me, 0, 0, (body,)))  # type: ignore[arg-type]
    return single


def test_nothing_is_held_or_installed_before_it_is_whole():
    *most, last = pieces(entry("x", 1, EIGHT))
    single = taking(*most)
    single.waits(1 * S)
    assert X not in single.core.core_state.rib.entries
    assert not single.took(Install)
    single.hears("b", UpdateReply(single.core.me, 0, 0, (last,)))
    single.waits(1 * S)
    assert single.core.core_state.rib.entries[X].filters == EIGHT
    assert {id_ for install in single.took(Install) for id_ in install.added} == EIGHT.keys()


def test_what_is_whole_is_compared_in_slices_between_which_other_events_come(monkeypatch):
    monkeypatch.setattr(collecting, "COMPARED_PER_SLICE", 3)
    single = taking(*pieces(entry("x", 1, EIGHT)))
    slices = 0
    while single.core._predicates.collects(X):
        assert single.due_in(Due.COLLECT, X) == 1
        single.waits(1)
        slices += 1
    assert slices == 4, "three, and the end"
    assert [len(install.added) for install in single.took(Install)] == [3, 3, 2]


def test_what_is_interrupted_leaves_nothing():
    most = pieces(entry("x", 1, EIGHT))[:-1]
    for end in (lambda single: single.down("a"), lambda single: single.waits(11 * S)):
        single = taking(*most)
        assert single.core._predicates.collecting == 1
        end(single)
        single.waits(1)
        assert single.core._predicates.collecting == 0
        assert not single.core.core_state.rib.has_scraps
        assert not [name for name in single.core.core_state.timers._due if name[0] is Due.COLLECT]


def test_what_two_say_is_kept_while_one_of_them_is_there():
    *most, last = pieces(entry("x", 1, EIGHT))
    single = taking(*most)
    single.hears("b", UpdateReply(single.core.me, 0, 0, (most[0],)))
    single.down("a")
    single.hears("b", UpdateReply(single.core.me, 0, 0, (last,)))
    single.waits(1 * S)
    assert single.core.core_state.rib.entries[X].filters == EIGHT


def test_a_fresher_one_takes_its_place():
    most = pieces(entry("x", 1, EIGHT))[:-1]
    single = taking(*most, entry("x", 2, {1: EIGHT[1]}))
    assert single.core._predicates.collecting == 0
    single = taking(*most, *pieces(entry("x", 2, dict(list(EIGHT.items())[:5]))))
    single.waits(1 * S)
    assert len(single.core.core_state.rib.entries[X].filters) == 5
    assert single.core._predicates.collecting == 0


def test_a_wrong_digest_is_never_held_and_is_an_alarm():
    lie = entry("x", 1, EIGHT)._replace(digest=NO_DIGEST)
    single = taking(*pieces(lie))
    single.waits(1 * S)
    assert X not in single.core.core_state.rib.entries
    assert [alarm.text for alarm in single.took(Alarm)] == [
        f"the predicate of {X} does not agree with its digest and is refused"
    ]
    single = taking(lie._replace(filters=lie.filters[:1]))
    assert X not in single.core.core_state.rib.entries


def test_what_would_be_too_much_is_dropped_with_an_alarm(monkeypatch):
    monkeypatch.setattr(predicates, "COLLECTED_BYTES_MAX", 4 * len(EIGHT[1]))
    single = taking(*pieces(entry("x", 1, EIGHT))[:3])
    assert single.core._predicates.collecting == 0
    assert len(single.took(Alarm)) == 1


def test_changes_that_come_meanwhile_follow():
    after = EIGHT | {9: less(1)}
    last = {id_: packed for id_, packed in after.items() if id_ != 1}
    single = taking(*pieces(entry("x", 1, EIGHT))[:2])
    single.hears("b", change("x", 2, 3, after, last), change("x", 1, 2, EIGHT, after))
    single.hears("a", UpdateReply(single.core.me, 0, 0, tuple(pieces(entry("x", 1, EIGHT))[2:])))
    single.waits(1 * S)
    held = single.core.core_state.rib.entries[X]
    assert (held.version, held.filters) == (Version(1, 3), last)
    assert held.size == sum(map(len, last.values()))
    assert single.core.core_state.rib._pending_bytes == 0


def test_a_change_of_the_old_one_while_the_new_one_is_compared():
    single = taking(whole_entry := entry("x", 1, {20: less(1)}), *pieces(entry("x", 5, EIGHT)))
    assert whole_entry.filters
    single.hears("b", change("x", 1, 2, {20: less(1)}, {21: less(2)}))
    single.waits(1 * S)
    table: dict[int, bytes] = {}
    for install in single.took(Install):
        for id_ in install.removed:
            del table[id_]
        table.update(install.added)
    assert table == single.core.core_state.rib.entries[X].filters == EIGHT


def test_a_large_predicate_gives_way_to_a_small_one():
    single = taking(*pieces(entry("x", 1, EIGHT)))
    single.waits(1 * S)
    single.took(object)
    single.hears("b", whole("x", 2, NONE))
    single.waits(1 * S)
    assert single.core.core_state.rib.entries[X] == HeldPredicate(Version(1, 2), NO_DIGEST, {})
    assert {id_ for install in single.took(Install) for id_ in install.removed} == EIGHT.keys()
    assert not single.core.core_state.rib.has_scraps


def test_a_link_has_caught_up_when_all_that_it_said_is_held():
    single = Single()
    single.up("a")
    single.hears("a", SenderRequest(A, 1, 1, 0, b"?" * 16, ()))  # type: ignore[arg-type]
    asked = single.took(SenderRequest, "a")[-1]
    *most, last = pieces(entry("x", 1, EIGHT))
    for piece in most:
        single.hears("a", UpdateReply(*asked.ticket, (piece,), more=True))
    link = single.core.core_state.links.by_neighbour[A]
    assert not link.is_synced
    single.hears("a", UpdateReply(*asked.ticket, (last,)))
    assert not link.is_synced
    single.waits(10)
    assert link.is_synced
    assert not single.took(SenderRequest) or link.asked == 0


def test_an_answer_that_is_on_its_way_is_not_asked_for_again():
    single = Single()
    single.up("a")
    single.hears("a", SenderRequest(A, 1, 1, 0, b"?" * 16, ()))  # type: ignore[arg-type]
    asked = single.took(SenderRequest, "a")[-1]
    for piece in pieces(entry("x", 1, EIGHT), step=1):
        single.waits(900 * MS)
        single.hears("a", UpdateReply(*asked.ticket, (piece,), more=True))
    assert not [body for body in single.took(SenderRequest, "a") if not body.digest]


def test_who_is_behind_hears_the_version_alone():
    single = taking(*pieces(entry("x", 5, EIGHT)))
    single.hears("b", state("x", 1, "a"), state("a", 2, "me", "x"))
    single.waits(2 * S)
    single.took(object)
    single.hears("a", whole("x", 1, NONE, epoch=0))  # of an earlier life
    [reply] = [body for body in single.took(UpdateReply) if body.request == 0]
    assert reply.entries == (Entry(X, 1, 5, predicate_digest(EIGHT.items()), (), 0, 8),)


def test_news_of_a_version_are_asked_about():
    single = taking(Entry(X, 1, 5, predicate_digest(EIGHT.items()), (), 0, 8))
    single.waits(1)
    assert [body for body in single.took(SenderRequest, "a") if not body.digest]
    assert single.core._predicates.collecting == 0


# --- any history


@checks
@given(st.data())
def test_pieces_in_any_order_from_anybody_make_the_predicate(data):
    filters = data.draw(st.dictionaries(st.integers(0, 40), st.binary(min_size=1, max_size=3), min_size=1))
    said = tuple(AdvertisedFilter(*each) for each in filters.items())
    cuts = data.draw(st.lists(st.tuples(st.integers(0, len(said)), st.integers(1, 5)), max_size=20))
    spans = [(first, first + count) for first, count in cuts] + [(at, at + 3) for at in range(0, len(said), 3)]
    collection = IncomingPredicate(Version(1, 1), predicate_digest(filters.items()), len(filters))
    for first, last in data.draw(st.permutations(spans)):
        assert not collection.is_wrong
        collection.take(said[first:last])
    assert collection.is_there
    assert not collection.is_wrong
    assert collection.filters == filters


NAMES = "abcd"
WHO = st.sampled_from(NAMES)
STEPS = st.lists(
    st.tuples(st.just("toggle"), st.sampled_from(list(combinations(NAMES, 2))))
    | st.tuples(st.just("want"), st.tuples(WHO, st.integers(0, 40), st.integers(1, 12)))
    | st.tuples(st.just("unwant"), st.tuples(WHO, st.integers(0, 40), st.integers(1, 12)))
    | st.tuples(st.just("restart"), st.tuples(WHO, st.integers(0, 3)))
    | st.tuples(st.just("run"), st.sampled_from([3 * MS, 15 * MS, 40 * MS, 150 * MS, 3 * S]).map(lambda us: (us,)))
    | st.tuples(st.just("lose"), st.sampled_from(BODIES).map(lambda body: (body,))),
    max_size=30,
)


class History:
    def __init__(self) -> None:
        self.world = World(NAMES)
        self.links: set[tuple[str, str]] = set()
        self.wanted: dict[str, set[bytes]] = {name: set() for name in NAMES}

    def toggle(self, one: str, other: str) -> None:
        if (one, other) in self.links:
            self.world.cut(one, other)
        else:  # one link of six is with a router of version 1
            self.world.connect(one, other, version=1 if (one, other) == ("b", "d") else 2)
        self.links ^= {(one, other)}

    def want(self, who: str, first: int, count: int) -> None:
        new = {less(7, f"n{number:02d}") for number in range(first, first + count)} - self.wanted[who]
        self.wanted[who] |= new
        self.world.want(who, *sorted(new))

    def unwant(self, who: str, first: int, count: int) -> None:
        gone = {less(7, f"n{number:02d}") for number in range(first, first + count)} & self.wanted[who]
        self.wanted[who] -= gone
        self.world.unwant(who, *sorted(gone))

    def restart(self, who: str, epoch: int) -> None:
        self.world.stop(who)
        self.links = {link for link in self.links if who not in link}
        self.wanted[who] = set()
        self.world.start(who, epoch)

    def run(self, for_us: int) -> None:
        self.world.run(for_us)
        for name, table in self.world.installed.items():
            entries = self.world.cores[name].core_state.rib.entries
            for issuer, held in entries.items():
                assert held.digest == predicate_digest(held.filters.items()), "never a wrong predicate"
                assert issuer == self.world.cores[name].me or table.get(issuer, {}) == held.filters

    def lose(self, body: type) -> None:
        self.world.lose.append(body)


@settings(checks, max_examples=settings.default.max_examples * 6 // 10)
@given(STEPS)
def test_after_any_history_everybody_holds_what_everybody_wants(steps):
    history = History()
    for name, arguments in steps:
        getattr(history, name)(*arguments)
    history.world.lose.clear()
    history.world.run(130 * S)
    history.world.check()
    assert is_tidy(history.world)
    for name in NAMES:
        for other in history.world.reach(name):
            assert filters_of(history.world, name, other) == history.wanted[other]
        assert not history.world.cores[name].figures().unfinished
