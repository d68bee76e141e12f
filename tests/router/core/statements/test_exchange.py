"""R4, R10: what two neighbours find when they compare."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.wire.numbers import NO_DIGEST, add, entry_digest, predicate_digest, stable_number, state_digest
from tamis.protocol.wire.routing_bodies import Known, Scope, SenderRequest
from tamis.protocol.wire.versions import PROTOCOL_VERSION
from tamis.router.core.statements import sizes
from tamis.router.core.statements.exchange import Comparison, Exchange, fits_whole
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.rib import HeldPredicate, Rib
from tamis.router.core.statements.topology import KnownLinks
from tests.router.core.bodies import entry, state
from tests.router.core.graphs import checks

NAMES = "abcd"
A, B, C, D = map(stable_number, NAMES)
ONE, TWO = {1: b"one"}, {1: b"two"}
STATEMENTS = st.dictionaries(st.sampled_from(NAMES), st.tuples(st.integers(1, 2), st.integers(1, 2)))


def knowing(
    entries: dict[str, tuple[int, dict[int, bytes]]], states: dict[str, int], reachable: str = NAMES
) -> Exchange:
    rib, topology = Rib(), KnownLinks()
    for name, (seq, filters) in entries.items():
        rib.replace(stable_number(name), Version(1, seq), predicate_digest(filters.items()), filters)
    for name, seq in states.items():
        topology.hear(state(name, seq))
    exchange = Exchange(rib, topology)
    exchange.reachable = frozenset(map(stable_number, reachable))
    return exchange


def request(exchange: Exchange) -> SenderRequest:
    return SenderRequest(9, 1, 3, Scope.NEIGHBOUR, b"", *exchange.vectors())


def test_what_the_asker_lacks_or_has_in_an_older_version_is_found():
    ours = knowing({"a": (2, ONE), "b": (1, ONE)}, {"a": 2, "b": 1})
    theirs = knowing({"a": (1, ONE)}, {"a": 1})
    assert ours.compare(request(theirs)) == Comparison((state("a", 2), state("b", 1)), (A, B), False)


def test_that_the_asker_holds_something_fresher_is_found():
    ours = knowing({"a": (1, ONE)}, {"a": 1})
    for theirs in (knowing({"a": (2, ONE)}, {"a": 1}), knowing({"a": (1, ONE), "b": (1, ONE)}, {"a": 1})):
        assert ours.compare(request(theirs)) == Comparison((), (), True)
    for theirs in (knowing({"a": (1, ONE)}, {"a": 2}), knowing({"a": (1, ONE)}, {"a": 1, "b": 1})):
        assert ours.compare(request(theirs)) == Comparison((), (), True)


def test_what_is_as_fresh_and_not_the_same_is_told_too():
    ours = knowing({"a": (1, ONE), "b": (1, ONE)}, {"b": 1})
    theirs = knowing({"a": (1, TWO), "b": (1, ONE)}, {})
    asked = SenderRequest(9, 1, 3, Scope.NEIGHBOUR, b"", theirs.vectors()[0], (Known(B, 1, 1, NO_DIGEST),))
    assert ours.compare(asked) == Comparison((state("b", 1),), (A,), False)


def test_of_routers_out_of_reach_only_what_the_asker_names_is_told():
    ours = knowing({"a": (2, ONE), "b": (2, ONE)}, {"a": 2, "b": 2}, reachable="")
    theirs = knowing({"a": (1, ONE)}, {"b": 1})
    assert ours.compare(request(theirs)) == Comparison((state("b", 2),), (A,), False)


@checks
@given(STATEMENTS, STATEMENTS, st.sets(st.sampled_from(NAMES)))
def test_digests_are_equal_iff_all_that_is_known_of_reachable_routers_is(ours, theirs, reachable):
    def known(said: dict[str, tuple[int, int]]) -> Exchange:
        entries = {name: (seq, ONE) for name, (seq, _) in said.items()}
        return knowing(entries, {name: seq for name, (_, seq) in said.items()}, "".join(sorted(reachable)))

    def within(said: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
        return {name: said[name] for name in said.keys() & reachable}

    assert (known(ours).digest() == known(theirs).digest()) == (within(ours) == within(theirs))


def test_the_digest_is_the_sum_over_entries_and_link_states():
    exchange = knowing({"a": (2, ONE), "d": (2, ONE)}, {"b": 3, "d": 1}, reachable="ab")
    of_entry = entry_digest(A, 1, 2, predicate_digest(ONE.items()))
    of_state = state_digest(B, 1, 3, exchange.vectors()[1][0].digest)
    assert exchange.digest() == add(NO_DIGEST, of_entry, of_state)
    assert [known.issuer for known in (*exchange.vectors()[0], *exchange.vectors()[1])] == [A, B]


def test_an_answer_with_nothing_in_it_is_an_answer():
    exchange = knowing({}, {})
    [reply] = exchange.replies(request(exchange), (), PROTOCOL_VERSION)
    assert (reply.ticket, reply.entries, reply.more, reply.answered) == ((9, 1, 3), (), False, 1)


def test_an_answer_is_closed_when_it_is_long_and_the_last_one_says_so(monkeypatch):
    monkeypatch.setattr(sizes, "FILTER_OVERHEAD_BYTES", 0)
    monkeypatch.setattr(sizes, "STATEMENT_BYTES_MAX", 10)
    exchange = knowing({name: (1, {1: b"four", 2: b"4"}) for name in NAMES}, {})
    replies = list(exchange.replies(request(exchange), (A, B, C, D), PROTOCOL_VERSION))
    assert [[known.issuer for known in reply.entries] for reply in replies] == [[A, B], [C, D]]
    assert [reply.more for reply in replies] == [True, False]
    assert replies[0].entries[0] == entry("a", 1, {1: b"four", 2: b"4"})


def test_a_predicate_that_takes_three_quarters_of_what_a_link_puts_together_is_sent_whole_and_no_larger_one():
    held = HeldPredicate(Version(1, 1), NO_DIGEST, {}, size=48 * 2**20)
    assert fits_whole(held)
    held.size += 1
    assert not fits_whole(held)
