"""Spaces: what fits, what plain data says, and what a change means."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.spaces import (
    ChangeKind,
    ChoiceDomain,
    Domain,
    FixedDomain,
    IntegerDomain,
    NumberDomain,
    Space,
    SpaceAttribute,
    SpaceSet,
    TextDomain,
    Violation,
    compare,
    digest,
    pack,
    space_from,
    space_to_mapping,
    unpack,
)
from tamis.protocol.spaces.changes import includes
from tamis.protocol.values import Value
from tests.protocol.spaces.space_strategies import domains, fitting, nearly_fitting, spaces, values_near, values_of
from tests.strategies import values

TRADES = space_from(
    "trades",
    {
        "attributes": {
            "issue": "string",
            "price": {"fixed": [0, 10000], "digits": 2},
            "volume": {"integer": [0, 1_000_000]},
            "side": {"one_of": ["buy", "sell"]},
            "note": {"kind": "string", "optional": True},
        }
    },
)
FITS: dict[str, Value] = {"type": "trades", "issue": "X", "price": 12.35, "volume": 7, "side": "buy"}


def test_a_message_that_fits() -> None:
    assert TRADES.check(FITS) is None
    assert TRADES.check(FITS | {"note": "late", "volume": 7.0}) is None


@pytest.mark.parametrize(
    ("change", "attribute", "violation"),
    [
        ({"price": 12.345}, "price", Violation.TOO_FINE),
        ({"price": 10000.01}, "price", Violation.OUTSIDE),
        ({"price": -1}, "price", Violation.OUTSIDE),
        ({"price": "12"}, "price", Violation.KIND),
        ({"volume": 1_000_001}, "volume", Violation.OUTSIDE),
        ({"volume": 0.5}, "volume", Violation.TOO_FINE),
        ({"volume": True}, "volume", Violation.KIND),
        ({"side": "hold"}, "side", Violation.NOT_LISTED),
        ({"issue": 5}, "issue", Violation.KIND),
        ({"colour": "red"}, "colour", Violation.UNDECLARED),
    ],
)
def test_the_attribute_that_does_not_fit_is_named(
    change: dict[str, Value], attribute: str, violation: Violation
) -> None:
    refusal = TRADES.check(FITS | change)
    assert refusal is not None
    assert (refusal.space, refusal.attribute, refusal.violation) == ("trades", attribute, violation)


def test_a_refusal_is_a_sentence() -> None:
    refusal = TRADES.check(FITS | {"price": 12.345})
    assert str(refusal) == (
        "space trades: attribute price has too many digits; "
        "allowed: a number of at most 2 digits behind the point from 0 to 10000"
    )


def test_what_is_missing_is_named_by_the_order_of_names() -> None:
    refusal = TRADES.check({"type": "trades", "issue": "X"})
    assert refusal is not None
    assert (refusal.attribute, refusal.violation) == ("price", Violation.MISSING)


def test_an_open_space_takes_other_attributes() -> None:
    space = space_from("s", {"open": True, "attributes": {"a": "number"}})
    assert space.check({"a": 1, "z": "anything"}) is None


def test_a_set_of_spaces_looks_at_the_attribute_that_names_one() -> None:
    known = SpaceSet({"trades": TRADES})
    assert known.check({"price": "anything"}) is None
    assert known.check({"type": "other", "price": "anything"}) is None
    assert known.check({"type": 5}) is None
    assert known.check({"type": "trades"}) is not None
    strict = SpaceSet({"trades": TRADES}, refuses_unknown=True)
    refusal = strict.check({"type": "other"})
    assert str(refusal) == "attribute type names no space; allowed: trades"
    elsewhere = SpaceSet({"trades": TRADES}, naming="kind")
    assert elsewhere.check({"type": "trades"}) is None
    assert elsewhere.check(FITS | {"kind": "trades"}) == TRADES.check(FITS | {"type": "trades"}, "kind")


@given(spaces().flatmap(lambda space: st.tuples(st.just(space), fitting(space))))
def test_what_is_drawn_to_fit_fits(drawn: tuple[Space, dict[str, Value]]) -> None:
    space, message = drawn
    assert space.check(message) is None


@given(spaces().flatmap(lambda space: st.tuples(st.just(space), nearly_fitting(space))))
def test_a_message_fits_exactly_if_each_attribute_does(drawn: tuple[Space, dict[str, Value]]) -> None:
    space, message = drawn
    declared = space.attributes
    fits = all(name in message or said.is_optional for name, said in declared.items())
    for name, value in message.items():
        fits &= declared[name].domain.violation(value) is None if name in declared else space.is_open
    refusal = space.check(message)
    assert (refusal is None) == fits
    if refusal is not None and refusal.violation is Violation.MISSING:
        assert refusal.attribute not in message


@given(st.integers(-(10**15), 10**15), st.integers(0, 9))
def test_each_decimal_of_the_digits_belongs_to_a_fixed_domain(units: int, digits: int) -> None:
    domain = FixedDomain(-(10**15), 10**15, digits)
    value = domain.value(units)
    assert domain.violation(value) is None
    if isinstance(value, float):
        assert value == float(f"{units}e-{digits}")
        assert domain.violation(math.nextafter(value, math.inf)) in (Violation.TOO_FINE, Violation.OUTSIDE)


# --- plain data ---------------------------------------------------------------------------------------------------


@given(spaces())
def test_plain_data_and_bytes_give_the_space_back(space: Space) -> None:
    for again in (space_from(space.name, space_to_mapping(space)), unpack(pack(space), space.version)):
        assert again == space
        assert again.version == space.version
        assert pack(again) == pack(space)
        assert digest(again) == digest(space)


@given(spaces(), spaces())
def test_digests_are_equal_exactly_for_equal_spaces(one: Space, other: Space) -> None:
    assert (digest(one) == digest(other)) == (one == other)


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"attributes": {"p": "text"}}, "space s: attribute p: kind: string, boolean, number, not 'text'"),
        ({"attributes": {"p": {}}}, "give the domain by one of kind, integer, fixed and one_of, not none"),
        ({"attributes": {"p": {"integer": [0, 1], "kind": "number"}}}, "not kind and integer"),
        ({"attributes": {"p": {"integer": [2, 1]}}}, "the lower bound comes first, 2 is above 1"),
        ({"attributes": {"p": {"integer": [0, 1.5]}}}, "the bounds are two integers, not 1.5"),
        ({"attributes": {"p": {"integer": [0, True]}}}, "the bounds are two integers, not True"),
        ({"attributes": {"p": {"integer": [1]}}}, "integer: two bounds, not 1"),
        ({"attributes": {"p": {"fixed": [0, 1]}}}, "digits: missing"),
        ({"attributes": {"p": {"fixed": [0, 1.005], "digits": 2}}}, "the bound 1.005 has more than 2 digits"),
        ({"attributes": {"p": {"fixed": [0, 1], "digits": 10}}}, "0 to 9 digits, not 10"),
        ({"attributes": {"p": {"fixed": [0, 10**15], "digits": 1}}}, "the bounds lie within -100000000000000 and"),
        ({"attributes": {"p": {"fixed": [0, math.nan], "digits": 1}}}, "must be finite"),
        ({"attributes": {"p": {"integer": [0, 1], "digits": 1}}}, "digits: only for fixed, not for integer"),
        ({"attributes": {"p": {"one_of": []}}}, "1 to 256 values, this list has 0"),
        ({"attributes": {"p": {"one_of": ["a", "a"]}}}, "'a' is listed twice"),
        ({"attributes": {"p": {"one_of": ["a", 1]}}}, "the values are strings, not 1"),
        ({"attributes": {"p": {"kind": "string", "optional": 1}}}, "optional: true or false, not 1"),
        ({"attributes": {"p": "string"}, "opened": True}, "no key 'opened'; the keys are version, open"),
        ({"attributes": ["p"]}, "attributes: a mapping of names to domains"),
        ({"version": 0}, "version: 1 to"),
        ("trades", "a mapping of version, open, attributes, not 'trades'"),
        ({"attributes": {f"a{i}": "string" for i in range(64)}}, "a space has at most 63, this one 64"),
    ],
)
def test_mistakes_in_plain_data_are_named(mapping: object, sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        space_from("s", mapping)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("space s: ")


@pytest.mark.parametrize("name", ["", "1", "a b", "trades:", "größe", "x" * 65, 5])
def test_names_of_spaces_are_plain(name: str) -> None:
    with pytest.raises(Refused):
        space_from(name, {})


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_bytes_that_are_no_space_are_refused(data: bytes) -> None:
    with pytest.raises(Refused):
        unpack(data)


def test_a_space_that_is_too_large_is_refused() -> None:
    words = [f"{i}" * 200 for i in range(256)]
    space = space_from("s", {"attributes": {"a": {"one_of": words}}})
    with pytest.raises(Refused, match="at most 65536 bytes"):
        pack(space)
    with pytest.raises(Refused, match="at most 65536 bytes"):
        unpack(b" " * (limits.SPACE_BYTES_MAX + 1))


def test_a_space_does_not_declare_the_attribute_that_names_it() -> None:
    space = space_from("s", {"attributes": {"type": "string"}})
    with pytest.raises(Refused, match="attribute type names the space of a message"):
        SpaceSet({"s": space})
    assert SpaceSet({"s": space}, naming="kind")


# --- changes ------------------------------------------------------------------------------------------------------


@given(spaces())
def test_a_space_is_the_same_as_itself_of_another_version(space: Space) -> None:
    assert compare(space, Space(space.name, space.attributes, space.is_open, 9)).kind is ChangeKind.SAME


@given(spaces().flatmap(lambda old: st.tuples(st.just(old), spaces(), nearly_fitting(old))))
def test_after_a_widening_what_fitted_fits(drawn: tuple[Space, Space, dict[str, Value]]) -> None:
    old, new, message = drawn
    change = compare(old, new)
    assert (change.kind is ChangeKind.NARROWING) == bool(change.reasons)
    if change.kind is not ChangeKind.NARROWING and old.check(message) is None:
        assert new.check(message) is None


@given(domains(), domains(), st.data())
def test_a_domain_includes_another_only_with_all_its_values(wide: Domain, narrow: Domain, data: st.DataObject) -> None:
    value = data.draw(values_of(narrow) | values_near(narrow))
    assume(narrow.violation(value) is None)
    if includes(wide, narrow):
        assert wide.violation(value) is None


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (IntegerDomain(0, 5), IntegerDomain(0, 9), ChangeKind.WIDENING),
        (IntegerDomain(0, 5), IntegerDomain(1, 9), ChangeKind.NARROWING),
        (IntegerDomain(0, 5), NumberDomain(), ChangeKind.WIDENING),
        (NumberDomain(), IntegerDomain(0, 5), ChangeKind.NARROWING),
        (IntegerDomain(0, 5), FixedDomain(0, 500, 2), ChangeKind.WIDENING),
        (FixedDomain(0, 500, 2), FixedDomain(0, 5000, 3), ChangeKind.WIDENING),
        (FixedDomain(0, 500, 2), FixedDomain(0, 50, 1), ChangeKind.NARROWING),
        (FixedDomain(0, 500, 2), IntegerDomain(0, 5), ChangeKind.NARROWING),
        (ChoiceDomain(("a", "b")), ChoiceDomain(("a", "ab", "b")), ChangeKind.WIDENING),
        (ChoiceDomain(("a", "b")), ChoiceDomain(("b", "a")), ChangeKind.NARROWING),
        (ChoiceDomain(("a", "b")), ChoiceDomain(("a",)), ChangeKind.NARROWING),
        (ChoiceDomain(("a", "b")), TextDomain(), ChangeKind.NARROWING),
        (TextDomain(), NumberDomain(), ChangeKind.NARROWING),
    ],
)
def test_what_a_change_of_a_domain_is(old: Domain, new: Domain, kind: ChangeKind) -> None:
    before, after = (Space("s", {"a": SpaceAttribute(domain)}) for domain in (old, new))
    assert compare(before, after).kind is kind


@pytest.mark.parametrize(
    ("old", "new", "reasons"),
    [
        ({"open": True}, {"open": False}, ("the space was open, and undeclared attributes are refused now",)),
        ({"open": False}, {"open": True}, ()),
        ({}, {"attributes": {"a": "string"}}, ("attribute a is new and required",)),
        ({}, {"attributes": {"a": {"kind": "string", "optional": True}}}, ()),
        (
            {"open": True},
            {"open": True, "attributes": {"a": {"kind": "string", "optional": True}}},
            ("attribute a could have any value, and is a string now",),
        ),
        ({"attributes": {"a": "string"}}, {}, ("attribute a is no longer declared",)),
        ({"attributes": {"a": "string"}}, {"open": True}, ()),
        ({"attributes": {"a": {"one_of": ["x"]}}}, {"open": True}, ("attribute a loses the order of its values",)),
        (
            {"attributes": {"a": {"kind": "string", "optional": True}}},
            {"attributes": {"a": "string"}},
            ("attribute a was optional, and is required now",),
        ),
        ({"attributes": {"a": "string"}}, {"attributes": {"a": {"kind": "string", "optional": True}}}, ()),
    ],
)
def test_what_a_narrowing_would_break_is_said(old: object, new: object, reasons: tuple[str, ...]) -> None:
    change = compare(space_from("s", old), space_from("s", new))
    assert change.reasons == reasons
    assert change.kind is (ChangeKind.NARROWING if reasons else ChangeKind.WIDENING)


@given(values(), domains())
def test_a_violation_is_none_exactly_for_values_of_the_domain(value: Value, domain: Domain) -> None:
    violation = domain.violation(value)
    assert violation is None or isinstance(violation, Violation)
