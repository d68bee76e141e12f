"""The generators draw what the papers say, and the same bytes every time."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tamis.bench.matching.words import names, words
from tamis.bench.matching.workloads import MIXTURES, WORKLOADS, Workload, deal, make
from tamis.bench.matching.workloads.papers import PAPERS
from tamis.native import Table
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter, Op
from tamis.protocol.normal import normalize
from tamis.protocol.values import Value, ValueKind, kind_of
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import decode_filter


def filters_of(workload: Workload) -> list[Filter]:
    return [decode_filter(workload.filters[i]) for i in range(len(workload.filters))]


def messages_of(workload: Workload) -> list[dict[str, Value]]:
    return [decode_attributes(workload.messages[i]) for i in range(len(workload.messages))]


def shares(things: Iterable[object]) -> dict[object, float]:
    counted = Counter(things)
    return {thing: count / counted.total() for thing, count in counted.items()}


def near(expected: dict[object, float]) -> object:
    return pytest.approx(expected, abs=0.02)


SLOW = {"words", *list(MIXTURES)[3:]}  # 100,000 words are made once
ALL = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in [*WORKLOADS, *MIXTURES]]


@pytest.mark.parametrize("name", ALL)
def test_equal_arguments_give_equal_bytes(name: str) -> None:
    one, two, other = (make(name, 60, 20, 100, seed) for seed in (1, 1, 2))
    assert (one.filters.data, one.messages.data) == (two.filters.data, two.messages.data)
    assert one.filters.data != other.filters.data
    assert one.messages.data != other.messages.data


@pytest.mark.parametrize("name", ALL)
def test_the_constraints_are_counted(name: str) -> None:
    made = make(name, 200, 10, 100, 3)
    assert len(made.filters) == 200
    assert made.constraint_count == sum(len(each.constraints) for each in filters_of(made))


@pytest.mark.parametrize("name", ALL)
def test_engines_answer_each_workload_as_the_twin_does(name: str) -> None:
    made = make(name, 60, 25, 30, 3)
    filters, messages = filters_of(made), messages_of(made)
    expected = [[i for i, each in enumerate(filters) if filter_matches(each, message)] for message in messages]
    for engine in Table.engines():
        with Table(engine) as table:
            table.add_many(made.filters, array("I", range(60)))
            assert table.match_batch(made.messages) == expected


@pytest.mark.parametrize("name", [*sorted(set(WORKLOADS) - set(PAPERS)), *MIXTURES])
def test_filters_are_as_a_router_sees_them(name: str) -> None:
    for each in filters_of(make(name, 100, 1, 30, 3)):
        assert normalize(each).constraints == each.constraints


@pytest.mark.parametrize("name", ["geo", "geo-category", "geo-3", "geo-5", "lists", "bands", "exceptions"])
def test_hits_do_not_grow_with_the_filters(name: str) -> None:
    for count in (500, 2_000):
        made = make(name, count, 100, 1, 3)
        with Table() as table:
            table.add_many(made.filters, array("I", range(count)))
            assert 6 < table.measure(made.messages).matched / 100 < 14


@pytest.mark.parametrize(
    ("name", "other", "names"),
    [
        ("alerts", "alerts-turned", {"class": "event"}),
        ("tenants", "tenants-turned", {"client": "tenant"}),
        ("telemetry", "telemetry-short", {}),
    ],
)
def test_two_spellings_are_one_workload(name: str, other: str, names: dict[str, str]) -> None:
    def spelled(one: str) -> str:
        return names.get(one) or re.sub(r"sensors\.0*(\d+)\.celsius", r"s\1", one)

    one, two = make(name, 50, 20, 1, 3), make(other, 50, 20, 1, 3)
    assert [
        {(spelled(part.name), part.op, part.operands) for part in each.constraints} for each in filters_of(one)
    ] == [{(part.name, part.op, part.operands) for part in each.constraints} for each in filters_of(two)]
    assert [{spelled(key): value for key, value in each.items()} for each in messages_of(one)] == messages_of(two)
    for old, new in names.items():
        assert [old < each for each in ("device", "sensor")] != [new < each for each in ("device", "sensor")]


def test_the_bytes_are_those_of_the_published_figures() -> None:
    made = make("sigcomm03", 1_000, 100, 1_000, 2003)
    digest = hashlib.sha256(bytes(made.filters.data) + bytes(made.messages.data)).hexdigest()
    assert digest[:16] == "77e15fcd3a56c7c8"


@pytest.mark.slow
def test_sigcomm03_is_that_of_paper_004() -> None:
    made = make("sigcomm03", 4_000, 2_000, 1_000, 1)
    filters, messages = filters_of(made), messages_of(made)
    assert set(Counter(len(each.constraints) for each in filters)) == set(range(1, 10))
    assert set(Counter(map(len, messages))) == set(range(1, 20))
    assert made.constraint_count / 4_000 == pytest.approx(5, abs=0.15)
    constraints = [constraint for each in filters for constraint in each.constraints]
    strings = [each for each in constraints if kind_of(each.operands[0]) is ValueKind.STRING]
    numbers = [each for each in constraints if kind_of(each.operands[0]) is ValueKind.NUMBER]
    assert len(strings) / len(constraints) == pytest.approx(0.5, abs=0.02)
    patterns = {Op.PREFIX: 0.15, Op.SUFFIX: 0.15, Op.CONTAINS: 0.15}
    assert shares(each.op for each in strings) == near({Op.EQ: 0.35, **patterns, Op.LT: 0.1, Op.GT: 0.1})
    assert shares(each.op for each in numbers) == near({Op.EQ: 0.6, Op.LT: 0.2, Op.GT: 0.2})
    assert {each.operands[0] for each in numbers} == set(range(100))
    assert {each.operands[0] for each in strings} <= set(words(1_000))


@pytest.mark.slow
def test_names_follow_zipf_and_are_distinct_within_a_filter() -> None:
    made = make("sigcomm03", 4_000, 10, 1_000, 1)
    singles = [each.constraints[0].name for each in filters_of(made) if len(each.constraints) == 1]
    everywhere = Counter(constraint.name for each in filters_of(made) for constraint in each.constraints)
    popular = names(1_000)[0]
    assert singles.count(popular) / len(singles) == pytest.approx(1 / 7.485, abs=0.05)
    assert everywhere.most_common(1)[0][0] == popular
    for each in filters_of(made):
        assert len({constraint.name for constraint in each.constraints}) == len(each.constraints)


def test_attributes_are_not_in_order_of_popularity() -> None:
    ranks = {name: rank for rank, name in enumerate(names(1_000))}
    long = [list(each) for each in messages_of(make("sigcomm03", 1, 3_000, 1_000, 1)) if len(each) >= 10]
    first, last = (sum(ranks[each[end]] for each in long) / len(long) for end in (0, -1))
    assert first == pytest.approx(last, rel=0.1)


@pytest.mark.slow
def test_cu922_is_that_of_paper_000() -> None:
    made = make("cu922", 4_000, 2_000, 100, 1)
    filters, messages = filters_of(made), messages_of(made)
    assert set(Counter(len(each.constraints) for each in filters)) == set(range(1, 6))
    assert set(Counter(map(len, messages))) == set(range(3, 11))
    constraints = [constraint for each in filters for constraint in each.constraints]
    kinds = {ValueKind.STRING: 0.4, ValueKind.NUMBER: 0.4, ValueKind.BOOLEAN: 0.2}
    assert shares(kind_of(each.operands[0]) for each in constraints) == near(kinds)
    assert shares(kind_of(value) for each in messages for value in each.values()) == near(kinds)
    ordered = [each.op for each in constraints if kind_of(each.operands[0]) is not ValueKind.BOOLEAN]
    assert shares(ordered) == near({Op.EQ: 0.6, Op.LT: 0.2, Op.GT: 0.2})
    numbers = Counter(value for each in messages for value in each.values() if kind_of(value) is ValueKind.NUMBER)
    low, high = (sum(numbers[value] for value in part) for part in (range(50), range(50, 100)))
    assert low / (low + high) == pytest.approx(0.75, abs=0.02)


def test_market_filters_read_as_written() -> None:
    made = make("market", 100, 10, 5, 1)
    for each in filters_of(made):
        price, side, symbol = each.constraints
        assert (symbol.name, symbol.op, side.name, side.operands) == ("symbol", Op.EQ, "side", ("buy",))
        assert symbol.operands[0] in {f"S{k}" for k in range(5)}
        assert (price.name, price.op) == ("price", Op.LT)


def test_prices_are_ranges_of_hundredths() -> None:
    made = make("prices", 8_000, 200, 10, 1)
    constraints = [constraint for each in filters_of(made) for constraint in each.constraints]
    assert len(constraints) == made.constraint_count == 8_000
    assert shares(each.op for each in constraints) == near({Op.BETWEEN: 0.5, Op.LT: 0.25, Op.GT: 0.25})
    widths = [each.operands[1] - each.operands[0] for each in constraints if each.op is Op.BETWEEN]
    assert min(widths) > 0
    assert max(widths) < 5.001
    values = [value for each in messages_of(made) for value in each.values()]
    assert len(values) == 1_000
    assert sum(value % 1 != 0 for value in values) > 900


def test_a_message_has_no_more_attributes_than_there_are_names() -> None:
    assert max(map(len, messages_of(make("sigcomm03", 1, 200, 4, 1)))) == 4


def test_words_are_distinct_words_of_3_to_12_letters_that_share_parts() -> None:
    chosen = words(1_000)
    assert len(set(chosen)) == 1_000
    assert not set(chosen) & set(names(1_000))
    assert {len(word) for word in chosen} <= set(range(3, 13))
    assert all(word.isascii() and word.isalpha() and word.islower() for word in chosen)
    assert len({word[:2] for word in chosen}) < 300
    assert words(10) == chosen[:10]


def test_filters_are_dealt_out_evenly() -> None:
    assert list(deal("cu922", 5, 2, 1)) == [0, 1, 0, 1, 0]
    assert list(deal("cu922", 3, 3, 1)) == [0, 1, 2]


@pytest.mark.parametrize(("filters", "interfaces"), [(1, 1), (7, 7), (5, 9), (10, 4), (1_000, 300), (20_000, 20)])
def test_each_interface_of_paper_004_has_one_filter_at_least(filters: int, interfaces: int) -> None:
    dealt = Counter(deal("sigcomm03", filters, interfaces, 1))
    assert dealt.total() == filters
    assert set(dealt) == set(range(min(filters, interfaces)))


def test_paper_004_draws_the_number_of_filters_of_an_interface_evenly_up_to_twice_the_mean() -> None:
    counts = Counter(Counter(deal("sigcomm03", 100_000, 1_000, 1)).values())
    assert max(counts) < 210
    quarters = [sum(n for count, n in counts.items() if low <= count < low + 50) for low in range(0, 200, 50)]
    assert quarters == pytest.approx([250] * 4, abs=45)
    assert list(deal("sigcomm03", 1_000, 10, 1)) != list(deal("sigcomm03", 1_000, 10, 2))


def test_two_ways_to_deal_one_workload_deal_the_same_filters() -> None:
    one, even = (make(name, 100, 20, 100, 1) for name in ("sigcomm03", "sigcomm03-even"))
    assert (one.filters.data, one.messages.data) == (even.filters.data, even.messages.data)


def test_an_unknown_workload_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no workload 'lottery'; one of sigcomm03, sigcomm03-even, cu922, words"):
        make("lottery", 1, 1, 1, 1)


def test_the_page_says_who_writes_the_filters_of_each_workload() -> None:
    page = (Path(__file__).parents[3] / "bench" / "README.md").read_text()
    rows = [f"| `{name}` | {kind.about} | {kind.hits} |" for name, kind in WORKLOADS.items()]
    assert [row for row in rows if row not in page] == []


def test_das_has_typed_events_and_profiles_of_the_papers_operators() -> None:
    made = make("das", 2_000, 300, 1, 1)
    filters, messages = filters_of(made), messages_of(made)
    names = {name for message in messages for name in message}
    assert all(set(message) == names for message in messages)
    assert {message["type"] for message in messages} == {
        each.constraints[-1].operands[0] for each in filters if each.constraints[-1].name == "type"
    }
    for each in filters:
        spoken = [constraint.name for constraint in each.constraints]
        assert len(spoken) == len(set(spoken))
        assert {"type"} <= set(spoken) <= names
        assert {constraint.op for constraint in each.constraints} <= {Op.EQ, Op.LT, Op.GT, Op.IN, Op.BETWEEN}
