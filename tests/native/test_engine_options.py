"""What the options of the papers' engines change: the work, as it is counted, and never an answer."""

from __future__ import annotations

import itertools
import random
from array import array

import pytest

from tamis.bench.matching.contenders import contenders
from tamis.bench.matching.workloads import deal, make
from tamis.native import ENGINES, Batch, Table, TableStats, engine_spelled, engines_listed
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tests.native.conftest import OTHERWISE

WITH_OPTIONS = [name for name, engine in ENGINES.items() if any(option.values for option in engine.options.values())]


def spellings(engine: str) -> list[str]:
    """The engine with each combination of the values that have names."""
    named = [option for option in ENGINES[engine].options.values() if option.values]
    chosen = itertools.product(*([f"{option.name}={value}" for value in option.values] for option in named))
    return [":".join((engine, *options)) for options in chosen]


def answers(engine: str, filters: Batch, interfaces: array[int], messages: Batch) -> tuple[object, TableStats]:
    with Table(engine) as table:
        table.add_many(filters, interfaces)
        found = table.measure(messages)
        return (found.matched, found.checksum), table.stats()


@pytest.mark.parametrize("interfaces", [7, 400])
def test_every_combination_answers_alike(interfaces: int) -> None:
    made = make("sigcomm03", 400, 60, 30, seed=7)
    dealt = deal("sigcomm03-even", 400, interfaces, seed=7)
    expected, _ = answers("linear", made.filters, dealt, made.messages)
    for engine in WITH_OPTIONS:
        for spelled in spellings(engine):
            assert answers(spelled, made.filters, dealt, made.messages)[0] == expected, spelled


def test_every_value_of_every_option_is_tried_by_the_tests_of_engines() -> None:
    tried = {(name, option.name, option.standard) for name in ENGINES for option in ENGINES[name].options.values()}
    for text in OTHERWISE:
        engine, options = engine_spelled(text)
        tried |= {(engine.name, option, value) for option, value in engine.values(options).items()}
    for name in WITH_OPTIONS:
        for option in ENGINES[name].options.values():
            values = range(option.least, option.most + 1) if option.values else ()
            missing = {(name, option.name, value) for value in values} - tried
            assert not missing - {("counting", "circuit", 0), ("sff", "counters", 1)}


def test_a_short_circuit_spares_updates_and_an_exclusion_more() -> None:
    made = make("sigcomm03", 2_000, 50, 20, seed=7)
    dealt = deal("sigcomm03-even", 2_000, 3, seed=7)
    off, full, each = (
        answers(f"counting:circuit={circuit}", made.filters, dealt, made.messages)[1]
        for circuit in ("off", "at-full", "each")
    )
    assert off.skipped == full.skipped == 0
    assert 0 < each.updates < full.updates < off.updates
    assert each.updates + each.skipped == full.updates  # both end with the last interface
    apart = deal("sigcomm03-even", 2_000, 2_000, seed=7)
    without, some = (
        answers(f"sff:rounds={rounds}:circuit=each", made.filters, apart, made.messages)[1] for rounds in (0, 10)
    )
    assert without.excluded == 0 < some.excluded < 2_000
    assert some.updates < without.updates
    assert some.skipped > without.skipped


def test_an_engine_that_does_not_count_says_nothing_of_counts(engine: str) -> None:
    table = Table(engine)
    table.add(Filter((Constraint("x", Op.EQ, (1,)),)), 0)
    assert table.match({"x": 1}) == [0]
    stats = table.stats()
    assert (stats.updates > 0) == engine.startswith(("counting", "sff"))
    assert stats.skipped == 0


def test_typed_determinants_exclude_by_the_type_of_the_value() -> None:
    """Every filter of each interface asks for `x`, of one type or of several."""
    texts, numbers, both = (Constraint("x", Op.LT, ("m",)), Constraint("x", Op.LT, (5,)), Constraint("x", Op.EXISTS))
    message: dict[str, Value] = {"x": 3}
    held = [[texts], [numbers], [both], [texts, numbers], [texts] * 70] * 20  # 70 are counted, few are walked
    excluded = {}
    for kind in ("name", "typed"):
        table = Table(f"sff:rounds=10:determinants={kind}")
        for interface, constraints in enumerate(held):
            for constraint in constraints:
                table.add(Filter((constraint,)), interface)
        assert table.match(message) == [i for i in range(100) if i % 5 in (1, 2, 3)]
        excluded[kind] = table.stats().excluded
        assert table.match({"x": "a"}) == [i for i in range(100) if i % 5 != 1]
        assert table.match({"y": 1}) == []
        table.validate()
    assert excluded == {"name": 0, "typed": 40}


def test_a_random_table_stays_sound_as_filters_come_and_go() -> None:
    dice = random.Random(5)
    made = make("sigcomm03", 300, 20, 12, seed=3)
    for spelled in spellings("sff"):
        table = Table(spelled)
        handles = [table.add(made.filters[i], dice.randrange(9)) for i in range(300)]
        dice.shuffle(handles)
        for handle in handles[:250]:
            table.remove(handle)
        table.validate()
        table.close()


def test_what_is_wrong_with_an_engine_is_said_before_anything_is_measured() -> None:
    for asked, why in [
        ("sff:rounds=300", "rounds is 300; from 0 to 256"),
        ("sff:circuit=full", "circuit is 'full'; one of off, at-full, each"),
        ("sff:colour=1", "engine sff has no option 'colour'; its options: rounds, circuit, counters, determinants"),
        ("counting:each", "'each' is not option=value"),
        ("quantum:circuit=each", "no engine 'quantum:circuit=each'"),
    ]:
        with pytest.raises(ValueError, match=why):
            contenders([asked])
    with pytest.raises(ValueError, match="rounds is 257; from 0 to 256"):
        contenders(["sff"], [257])
    (each,) = contenders(["counting:circuit=each"])
    assert (each.engine, each.options) == ("counting", (("circuit", "each"),))


def test_options_are_parted_by_commas_or_colons_and_engines_by_commas() -> None:
    assert engine_spelled("pst:delay=8,order=names") == engine_spelled("pst:delay=8:order=names")
    assert engines_listed("pst:delay=8,order=names,tamis,sff:rounds=3") == [
        "pst:delay=8,order=names",
        "tamis",
        "sff:rounds=3",
    ]
    assert engines_listed("tamis,library:duckdb") == ["tamis", "library:duckdb"]
    assert engines_listed("delay=8") == ["delay=8"]
    both = contenders(engines_listed("pst:delay=8,order=names,tamis"))
    assert [each.label for each in both] == ["pst delay=8 order=names", "tamis"]


def steps_of(spelled: str, workload: str) -> list[int]:
    """Of each message, by a table that is made and filled for this."""
    made = make(workload, 300, 40, 30, seed=11)
    with Table(spelled, hash_seed=7) as table:
        table.add_many(made.filters, deal(workload, 300, 25, seed=11))
        steps = [table.stats().steps]
        for message in made.messages:
            table.match(message)
            steps.append(table.stats().steps)
    return [after - before for before, after in itertools.pairwise(steps)]


def test_equal_runs_take_equal_steps_and_every_match_takes_some(engine: str) -> None:
    for workload in ("sigcomm03", "das"):
        first = steps_of(engine, workload)
        assert first == steps_of(engine, workload)
        assert min(first) > 0
