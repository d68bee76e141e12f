"""Covering in C: never wrongly claimed, found where the judge affirms it, sound through changes and lack of memory."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from tamis.native.covering import LOOKED_AT_MAX, FilterCovers
from tamis.protocol.covering import covers
from tamis.protocol.errors import NeverMatches, Refused
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import EVERYTHING, PATTERN_OPS, Constraint, Filter, Op
from tamis.protocol.json_form import decode_filter
from tamis.protocol.normal import normalize
from tamis.protocol.wire.packed_filters import decode_filter as unpack_filter
from tamis.protocol.wire.packed_filters import encode_filter
from tests.strategies import attributes_near, filters

same_name = filters(max_size=3, name=st.just("a"))
INDEX = FilterCovers()


def in_c(wide: Filter, narrow: Filter) -> bool:
    return INDEX.covers(encode_filter(wide), encode_filter(narrow))


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(st.data())
def test_no_message_contradicts_a_claim(data):
    a, b = data.draw(st.tuples(same_name, same_name) | st.tuples(filters(max_size=2), filters()))
    claimed = in_c(a, b)
    for _ in range(4):
        attributes = data.draw(attributes_near(a, b))
        assert not (claimed and filter_matches(b, attributes) and not filter_matches(a, attributes)), attributes


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(st.data())
def test_what_a_rule_leaves_are_the_messages_of_both(data):
    a, rule_ = data.draw(st.tuples(same_name, same_name) | st.tuples(filters(max_size=2), filters()))
    left = INDEX.left(encode_filter(a), encode_filter(rule_))
    if left is None:
        return
    found = unpack_filter(left) if left else None
    for _ in range(4):
        attributes = data.draw(attributes_near(a, rule_))
        is_of_both = filter_matches(a, attributes) and filter_matches(rule_, attributes)
        assert is_of_both == (found is not None and filter_matches(found, attributes)), attributes


simple = filters(max_size=3).map(
    lambda drawn: Filter(tuple(each for each in drawn.constraints if each.op not in PATTERN_OPS))
)


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(simple, simple)
def test_what_a_rule_leaves_of_a_normal_form_is_the_normal_form_of_both(a, rule_):
    try:
        a, rule_ = normalize(a), normalize(rule_)
        both = normalize(Filter((*a.constraints, *rule_.constraints)))
    except (NeverMatches, Refused):
        return
    left = INDEX.left(encode_filter(a), encode_filter(rule_))
    assert left in (None, encode_filter(both))


@pytest.mark.parametrize(
    ("a", "rule_", "left"),
    [
        ([["a", ">", 3]], [["a", ">", 1], ["b", "=", 1]], [["a", ">", 3], ["b", "=", 1]]),
        (
            [["b", "=", 2]],
            [["a", "=", 1], ["c", "not", "exists"]],
            [["a", "=", 1], ["b", "=", 2], ["c", "not", "exists"]],
        ),
        ([["a", "exists"]], [["a", "=", 1]], [["a", "=", 1]]),
        ([["a", ">", 3], ["b", "=", 1]], [["a", ">", 1]], [["a", ">", 3], ["b", "=", 1]]),
        ([["a", "=", 3]], [["a", "=", 1], ["b", "=", 1]], []),
        ([["a", ">", 3]], [["a", "<", 9]], None),
        ([["a", "=", 1], ["a", "=", 2]], [], None),  # no message satisfies it
        ([["b", "=", 1], ["a", "=", 1]], [["c", "=", 1]], None),  # no normal form
        ([[f"a{n}", "=", 1] for n in range(10)], [[f"b{n}", "=", 1] for n in range(7)], None),  # too many constraints
    ],
)
def test_what_a_rule_leaves(a, rule_, left):
    expected = left if left is None else encode_filter(decode_filter(left)) if left else b""
    assert INDEX.left(*(encode_filter(decode_filter(each)) for each in (a, rule_))) == expected


def test_nothing_is_left_unknown_of_many_constraints():
    many = [[f"a{n:02}", "=", 1] for n in range(15)]
    packed = [encode_filter(decode_filter(each)) for each in (many, [["b", "=", 1]])]
    assert INDEX.left(*packed) == encode_filter(decode_filter([*many, ["b", "=", 1]]))
    assert INDEX.left(b"\xc1", packed[1]) is None


TEXTS = ["", "a", "b", "ab", "aba"]
NUMBERS = [0, 1, 1.5, 2]


def single_constraints() -> list[Constraint]:
    plain = [Constraint("x", op, (value,)) for op in Op for value in TEXTS if op not in (Op.EXISTS, Op.IN, Op.BETWEEN)]
    plain += [Constraint("x", op, (value,)) for op in (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE) for value in NUMBERS]
    plain += [
        Constraint("x", Op.BETWEEN, pair)
        for values in (TEXTS, NUMBERS)
        for pair in itertools.combinations(sorted(values), 2)
    ]
    plain += [
        Constraint("x", Op.IN, (0, "a", True)),
        Constraint("x", Op.IN, ("a", "ab")),
        Constraint("x", Op.EXISTS, ()),
    ]
    plain += [Constraint("x", op, (truth,)) for op in (Op.EQ, Op.NE) for truth in (True, False)]
    return plain + [Constraint(c.name, c.op, c.operands, negated=True) for c in plain]


@pytest.mark.slow
def test_one_constraint_against_one_is_judged_as_by_the_regions():
    """Every claim of the regions is one of C's, in the normal form; and C claims nothing that they deny."""
    forms: dict[Filter, None] = {}
    for constraint in single_constraints():
        try:
            forms[normalize(Filter((constraint,)))] = None
        except NeverMatches:
            continue
    wrong = [(a, b) for a, b in itertools.product(forms, forms) if in_c(a, b) != covers(a, b)]
    assert not wrong


def test_two_bounds_imply_a_closed_range():
    wide, narrow = decode_filter([["x", "between", [1, 5]]]), decode_filter([["x", ">", 1], ["x", "<", 5]])
    assert in_c(wide, narrow)
    assert not in_c(narrow, wide)
    assert in_c(decode_filter([["x", ">", 0], ["x", "<", 6]]), wide)


def has_known_message(packed: bytes) -> bool:
    return FilterCovers().add(packed) is not None


some_filters = filters(max_size=3) | filters(max_size=2, name=st.just("a"))


class CoversMachine(RuleBasedStateMachine):
    """Against a dict and a scan; several copies of a filter may be in the table."""

    asked = Bundle("asked")

    def __init__(self) -> None:
        super().__init__()
        self.covers = FilterCovers()
        self.model: dict[int, Filter] = {}

    @initialize(target=asked)
    def everything(self):
        return EVERYTHING

    @rule(target=asked, filter_=some_filters)
    def add(self, filter_):
        id_ = self.covers.add(encode_filter(filter_))
        if id_ is not None:
            assert id_ not in self.model
            self.model[id_] = filter_
        return filter_

    @rule(data=st.data())
    def remove(self, data):
        if self.model:
            id_ = data.draw(st.sampled_from(sorted(self.model)))
            self.covers.remove(id_)
            del self.model[id_]
            with pytest.raises(KeyError):
                self.covers.remove(id_)

    @rule(filter_=asked | some_filters)
    def ask(self, filter_):
        packed = encode_filter(filter_)
        covered = {id_ for id_, other in self.model.items() if in_c(filter_, other)}
        assert sorted(self.covers.covered(packed)) == sorted(covered)
        covering = {id_ for id_, other in self.model.items() if in_c(other, filter_)}
        found = self.covers.covering(packed)
        assert len(found) == len(set(found))
        assert set(found) == (covering if has_known_message(packed) else set())

    @invariant()
    def sound(self):
        assert len(self.covers) == len(self.model)
        self.covers.validate()


TestCoversMachine = pytest.mark.slow(CoversMachine.TestCase)
TestCoversMachine.settings = settings(
    max_examples=settings.default.max_examples * 3 // 10,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
)


@given(some_filters)
def test_a_filter_of_which_no_message_is_found_is_rare(filter_):
    """One without patterns is kept unless it never matches."""
    kept = has_known_message(encode_filter(filter_))
    try:
        normalize(filter_)
    except NeverMatches:
        assert not kept
    else:
        assert kept or any(constraint.op in PATTERN_OPS for constraint in filter_.constraints)


def orders(rng: random.Random) -> Filter:
    symbol = Constraint("symbol", Op.EQ, (f"S{rng.randrange(50)}",))
    return Filter((Constraint("price", Op.LT, (rng.randrange(1, 1_000),)), symbol))


@pytest.mark.slow
def test_many_filters_come_and_go():
    rng = random.Random(20)
    covers_, live = FilterCovers(), {}
    for _ in range(20_000):
        filter_ = orders(rng)
        live[covers_.add(encode_filter(filter_))] = filter_
    covers_.validate()
    for id_ in rng.sample(sorted(live), 15_000):
        covers_.remove(id_)
        del live[id_]
    covers_.validate()
    for _ in range(50):
        asked = orders(rng)
        assert sorted(covers_.covering(encode_filter(asked))) == [i for i in sorted(live) if in_c(live[i], asked)]
        assert sorted(covers_.covered(encode_filter(asked))) == [i for i in sorted(live) if in_c(asked, live[i])]


def test_a_question_looks_at_a_bounded_number():
    covers_ = FilterCovers()
    for number in range(LOOKED_AT_MAX + 100):
        covers_.add(encode_filter(decode_filter([["x", "=", number]])))
    assert len(covers_.covered(encode_filter(EVERYTHING))) == LOOKED_AT_MAX
    assert len(covers_.covered(encode_filter(EVERYTHING), 7)) == 7
    assert len(covers_.covering(encode_filter(decode_filter([["x", "=", 5]])))) == 1


def test_lack_of_memory_changes_nothing():
    covers_, kept = FilterCovers(), []
    rng = random.Random(3)
    for number in range(400):
        packed = encode_filter(orders(rng))
        for fails in itertools.count(1):
            covers_.fail_allocation(fails if number % 40 == 0 else 0)
            try:
                kept.append(covers_.add(packed))
                break
            except MemoryError:
                assert len(covers_) == len(kept)
                covers_.validate()
        covers_.fail_allocation(0)
    covers_.validate()
    assert len(covers_) == 400


def test_memory_is_bounded():
    covers_ = FilterCovers(memory_bytes=4_000_000)

    def add_many() -> None:
        for number in range(100_000):
            covers_.add(encode_filter(decode_filter([["x", "=", f"value {number}"]])))

    with pytest.raises(MemoryError):
        add_many()
    assert covers_.stats()[1] <= 4_000_000
    covers_.validate()
    covers_.remove(0)
    assert covers_.add(encode_filter(decode_filter([["x", "=", "small"]]))) is not None
