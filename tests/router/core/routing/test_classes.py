"""Which classes a filter concerns: each of which a message may satisfy it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Op
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.core.routing.classes import classes_of
from tamis.router.core.routing.roots import REST, RootChoice
from tests.strategies import attributes_near, filters

SMALL = filters(max_size=2, name=st.sampled_from("ab"))


def choices(*classes: list[Filter]) -> list[RootChoice]:
    named = [RootChoice(f"c{at}", (), tuple(map(encode_filter, each))) for at, each in enumerate(classes)]
    return [*named, RootChoice(REST)]


def below(number: int) -> Filter:
    return Filter((Constraint("x", Op.LT, (number,)),))


def above(number: int) -> Filter:
    return Filter((Constraint("x", Op.GT, (number,)),))


@given(st.data(), st.lists(st.lists(SMALL, min_size=1, max_size=2), max_size=3), SMALL)
def test_a_filter_concerns_the_class_of_each_message_that_satisfies_it(
    data: st.DataObject, classes: list[list[Filter]], wanted: Filter
) -> None:
    attributes = data.draw(attributes_near(wanted, *(each for of_class in classes for each in of_class)))
    if filter_matches(wanted, attributes):
        is_in = [any(filter_matches(each, attributes) for each in of_class) for of_class in classes]
        place = is_in.index(True) if any(is_in) else len(classes)
        assert classes_of(choices(*classes))(encode_filter(wanted)) >> place & 1


def test_it_concerns_no_class_that_it_cannot_meet_nor_the_rest_if_a_class_covers_it() -> None:
    concerned = classes_of(choices([below(0)], [above(10), below(-5)]))
    assert concerned(encode_filter(above(20))) == 0b010
    assert concerned(encode_filter(below(-7))) == 0b011
    assert concerned(encode_filter(below(5))) == 0b111
    assert concerned(encode_filter(above(5))) == 0b110
    assert concerned(encode_filter(Filter((Constraint("x", Op.EQ, (5,)),)))) == 0b100
    assert concerned(encode_filter(EVERYTHING)) == 0b111


def test_one_that_cannot_be_read_concerns_all() -> None:
    assert classes_of(choices([below(0)]))(b"\xc1") == 0b11
