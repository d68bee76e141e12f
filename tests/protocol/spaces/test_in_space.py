"""Predicates on messages of a space, and profiles: what they mean, and what is said of those that are wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.dialects.tamis.tamis import translate
from tamis.protocol.errors import PredicateError
from tamis.protocol.evaluate import constraint_holds, predicate_matches
from tamis.protocol.filters import ORDER_OPS, Constraint, Op
from tamis.protocol.language import compile_text, format_constraint, format_predicate, parse
from tamis.protocol.language.das import compile_profile
from tamis.protocol.spaces import ChangeKind, ChoiceDomain, Space, SpaceSet, compare, space_from
from tamis.protocol.values import Value
from tests.protocol.spaces.space_strategies import fitting, spaces
from tests.strategies import operands

TRADES = space_from(
    "trades",
    {
        "attributes": {
            "issue": "string",
            "price": {"fixed": [0, 10000], "digits": 2},
            "volume": {"integer": [0, 1_000_000]},
            "side": {"one_of": ["sell", "buy", "auction"]},
            "firm": {"kind": "boolean", "optional": True},
        }
    },
)
OPEN = space_from("open", {"open": True, "attributes": {"severity": {"one_of": ["low", "medium", "high"]}}})
KNOWN = SpaceSet({"trades": TRADES, "open": OPEN})


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("trades: price < 120", 'type = "trades" and price < 120'),
        ("  trades:  price < 120", 'type = "trades" and price < 120'),
        ("trades:(price < 120)", 'type = "trades" and price < 120'),
        ("trades: price > 10.005", 'type = "trades" and price >= 10.01'),
        ("trades: price <= 10.005", 'type = "trades" and price <= 10'),
        ("trades: price between 1.001 and 1.019", 'type = "trades" and price between 1.01 and 1.01'),
        ("trades: volume >= 10.5", 'type = "trades" and volume >= 11'),
        ("trades: volume < 10.5", 'type = "trades" and volume <= 10'),
        ("trades: side > 'sell'", 'type = "trades" and side in {"buy", "auction"}'),
        ("trades: side >= 'auction'", 'type = "trades" and side = "auction"'),
        ("trades: side between 'sell' and 'buy'", 'type = "trades" and side in {"sell", "buy"}'),
        ("trades: not (side <= 'sell')", 'type = "trades" and not (side in {"sell"})'),
        ("trades: side ^= 'au'", 'type = "trades" and side prefix "au"'),
        ("trades: firm = true and exists firm", 'type = "trades" and firm = true and exists firm'),
        ("trades: true", 'type = "trades"'),
        ("trades: price = 1 or volume = 2", 'type = "trades" and price = 1 or type = "trades" and volume = 2'),
        ("open: severity >= 'medium' and other > 5", 'type = "open" and severity in {"medium", "high"} and other > 5'),
        # An attribute whose name ends with a colon, as before.
        ("trades: = 5", "`trades:` = 5"),
        ("trades: prefix 'x'", "`trades:` prefix 'x'"),
        ("trades:!= 5", "`trades:` != 5"),
    ],
)
def test_a_predicate_of_a_space_becomes_a_plain_one(text: str, plain: str) -> None:
    assert parse(text, spaces=KNOWN) == parse(plain)


@pytest.mark.parametrize(
    ("text", "column", "sentence", "hint"),
    [
        ("trades: prize * volume > 5", 9, "space trades has no attribute `prize`", "did you mean `price`?"),
        ("trades: lower(prise) = 'a'", 15, "space trades has no attribute `prise`", "did you mean `price`?"),
        ("trades: issue * 2 > 5", 9, "`*` takes a number, not an attribute that is a string", ""),
        ("trades: price < issue", 17, "an attribute that is a string does not compare with a number", ""),
        ("trades: price ~= 'a'", 9, "`~=` takes a string, not an attribute that is a number", ""),
        ("trades: volume in 10.0.0.0/8", 9, "`in` with a network takes a string", ""),
        ("trades: firm < firm", 9, "`<` takes a number or a string, not an attribute that is a boolean", ""),
        ("trades: price like 'a%'", 20, 'from 0 to 10000: "a" is of another kind', ""),
        ("trades: price * 2 > volume and price = 10.005", 40, "has too many digits", ""),
    ],
)
def test_a_computed_condition_is_validated_by_its_space(text: str, column: int, sentence: str, hint: str) -> None:
    with pytest.raises(PredicateError) as caught:
        translate(text, KNOWN)
    assert caught.value.column == column
    assert sentence in caught.value.problem
    assert hint in caught.value.hint


def test_a_computed_condition_is_about_messages_of_its_space_alone() -> None:
    for found in (translate("trades: price * volume > 5", KNOWN), translate("price * volume > 5", KNOWN, "trades")):
        assert format_predicate(found.predicate) == 'exists price and type = "trades" and exists volume'
        assert found.residual is not None
    assert translate("open: severity < other and x like 'a_'", KNOWN).residual is not None
    assert parse("trades: like 'x'") == parse("`trades:` = 'x'")


@pytest.mark.parametrize(
    ("text", "column", "sentence", "hint"),
    [
        ("trade: price < 120", 1, "no space `trade`", "did you mean `trades`?"),
        ("zzz: price < 120", 1, "no space `zzz`", "the spaces are trades, open"),
        ("trades: prize < 120", 9, "space trades has no attribute `prize`", "did you mean `price`?"),
        ("trades: exists colour", 9, "has no attribute `colour`", "its attributes are firm, issue, price, side"),
        ("trades: price < '120'", 17, 'from 0 to 10000: "120" is of another kind', ""),
        ("trades: price < 10001", 17, "from 0 to 10000: 10001 lies outside its range", ""),
        ("trades: price = 10.005", 17, "10.005 has too many digits", ""),
        ("trades: price in {1, 2.001}", 22, "2.001 has too many digits", ""),
        ("trades: price between 1.001 and 1.002", 23, "no value of price lies between the two", ""),
        ("trades: volume = 1.5", 18, "volume is an integer from 0 to 1000000: 1.5 has too many digits", ""),
        ("trades: side = 'buyer'", 16, 'side is one of sell, buy, auction: "buyer" is none', "did you mean `buy`?"),
        ("trades: side < 'sell'", 16, 'no value of side comes before "sell"', ""),
        ("trades: side between 'buy' and 'sell'", 22, "side has the order sell, buy, auction", ""),
        ("trades: firm > 3", 16, "firm is true or false: 3 is of another kind", ""),
        ("trades: issue between 'b' and 'a'", 23, "between needs the lower bound first", ""),
        ("trades: ", 8, "the text ends here", ""),
        ("trades: price < 120 and price > 130", 9, "can never", ""),
    ],
)
def test_mistakes_have_their_place(text: str, column: int, sentence: str, hint: str) -> None:
    with pytest.raises(PredicateError) as caught:
        parse(text, spaces=KNOWN)
    assert sentence in caught.value.problem
    assert hint in caught.value.hint
    assert sentence == "can never" or (caught.value.line, caught.value.column) == (1, column)


def test_where_no_space_is_known_none_can_be_named() -> None:
    with pytest.raises(PredicateError, match="no space `trades`") as caught:
        parse("trades: price < 120")
    assert caught.value.hint == "no spaces are known here"


def test_without_a_space_the_order_of_strings_is_that_of_their_characters() -> None:
    with pytest.raises(PredicateError, match="between needs the lower bound first") as caught:
        parse("severity between 'low' and 'high'")
    assert caught.value.column == 18
    assert parse("open: severity between 'low' and 'high'", spaces=KNOWN)


# --- the meaning ------------------------------------------------------------------------------------------------------


def _holds(space: Space, constraint: Constraint, message: dict[str, Value], is_swapped: bool) -> bool:
    """What a condition says by the order of the space: strings of a choice are compared by their places in it."""
    declared = space.attributes.get(constraint.name)
    if declared is None or not isinstance(declared.domain, ChoiceDomain) or constraint.name not in message:
        return constraint_holds(constraint, message)
    if constraint.op not in ORDER_OPS and constraint.op is not Op.BETWEEN:
        return constraint_holds(constraint, message)
    ranks = declared.domain.ranks
    ordered = tuple(ranks[str(value)] for value in constraint.operands)
    if is_swapped:
        ordered = ordered[::-1]
    by_rank = Constraint(constraint.name, constraint.op, ordered)
    return constraint_holds(by_rank, {constraint.name: ranks[str(message[constraint.name])]})


@st.composite
def conditions(draw: st.DrawFn, space: Space) -> tuple[str, Constraint, bool]:
    """A condition as text and as it is built, its bounds in the order of characters, and whether they are swapped."""
    name = draw(st.sampled_from([*space.attributes, "z"]))
    op = draw(st.sampled_from(Op))
    values = draw(operands(op))
    domain = space.attributes[name].domain if name in space.attributes else None
    if isinstance(domain, ChoiceDomain) and op is not Op.EXISTS:
        words = st.sampled_from(domain.values)
        values = tuple(draw(words) for _ in values)
    is_swapped = False
    if op is Op.BETWEEN and isinstance(values[0], str) and isinstance(values[1], str) and values[0] > values[1]:
        values, is_swapped = values[::-1], True
    constraint = Constraint(name, op, values)
    text = format_constraint(constraint)
    if is_swapped:
        low, high = (format_constraint(Constraint("x", Op.EQ, (value,)))[4:] for value in values)
        text = f"{format_constraint(Constraint(name, Op.EXISTS))[7:]} between {high} and {low}"
    return text, constraint, is_swapped


SPACE_AND_MESSAGE = spaces().flatmap(lambda space: st.tuples(st.just(space), fitting(space)))


@given(SPACE_AND_MESSAGE, st.data())
def test_a_predicate_of_a_space_has_the_meaning_of_its_plain_form(
    drawn: tuple[Space, dict[str, Value]], data: st.DataObject
) -> None:
    space, message = drawn
    known = SpaceSet({"s": space})
    text, constraint, is_swapped = data.draw(conditions(space))
    message = message | {"type": "s"}
    for negates in (False, True):
        written = f"s: not ({text})" if negates else f"s: {text}"
        try:
            predicate = parse(written, spaces=known)
        except PredicateError:
            continue
        assert predicate_matches(predicate, message) == (_holds(space, constraint, message, is_swapped) is not negates)
        assert not predicate_matches(predicate, message | {"type": "other"})
        assert parse(format_predicate(predicate)) == predicate


@given(SPACE_AND_MESSAGE, spaces(), st.data())
def test_a_predicate_outlives_a_widening(
    drawn: tuple[Space, dict[str, Value]], new: Space, data: st.DataObject
) -> None:
    old, message = drawn
    if compare(old, new).kind is ChangeKind.NARROWING:
        return
    text, _, _ = data.draw(conditions(old))
    message = message | {"type": "s"}
    try:
        before = parse(f"s: {text}", spaces=SpaceSet({"s": old}))
    except PredicateError:
        return
    after = parse(f"s: {text}", spaces=SpaceSet({"s": new}))
    assert predicate_matches(after, message) == predicate_matches(before, message)


# --- profiles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("PROFILE(PRI(a1=5,a2>10,TYPE=T1))", 'type = "T1" and a1 = 5 and a2 > 10'),
        ("profile ( pri ( TYPE = T1 ) )", 'type = "T1"'),
        ("PROFILE(PRI(a=word,b='two words',c<-1.5,TYPE=T1))", 'type="T1" and a="word" and b="two words" and c < -1.5'),
        ("PROFILE(PRI(a between 1 and 2, b in {1, x}, TYPE=T1))", 'type="T1" and a between 1 and 2 and b in {1, "x"}'),
        ("PROFILE(PRI(side>sell,TYPE=trades))", 'type = "trades" and side in {"buy", "auction"}'),
    ],
)
def test_a_profile_is_a_filter(text: str, plain: str) -> None:
    assert compile_profile(text, KNOWN).predicate == parse(plain)


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        ("PROFILE(PRI(a1=5))", 1, "the profile names no type"),
        ("PROFILE(PRI(a1=5,a1>3,TYPE=T1))", 18, "has one condition for an attribute, a1 has two"),
        ("PROFILE(PRI(TYPE=T1,TYPE=T2))", 21, "a profile names one type, as TYPE=T1"),
        ("PROFILE(PRI(TYPE>T1))", 13, "a profile names one type, as TYPE=T1"),
        ("PROFILE(PRI(a1!5,TYPE=T1))", 15, "the character '!' has no meaning here"),
        ("PROFILE(PRI(a1=5,TYPE=T1)", 26, "the profile ends too early"),
        ("a1 = 5", 1, "`a1` is not allowed here"),
        ("PROFILE(PRI(price>10001,TYPE=trades))", 19, "10001 lies outside its range"),
        ("PROFILE(PRI(colour=red,TYPE=trades))", 13, "space trades has no attribute `colour`"),
    ],
)
def test_mistakes_in_profiles_have_their_place(text: str, column: int, sentence: str) -> None:
    with pytest.raises(PredicateError) as caught:
        compile_profile(text, KNOWN)
    assert sentence in caught.value.problem
    assert caught.value.column == column


def test_warnings_name_the_alternatives_that_were_dropped() -> None:
    compiled = compile_text("trades: price < 5 and (price > 6 or volume = 1)", spaces=KNOWN)
    assert len(compiled.warnings) == 1
