"""`${name}` in a rule: for every name, the rule means the predicate with that name in its place."""

from __future__ import annotations

import random

import pytest

from tamis.protocol.access.patterns import first_match, read_pattern
from tamis.protocol.access.rule import NAME, compile_rule
from tamis.protocol.errors import PredicateError, Refused
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.language import parse

ATOMS = [
    *("a = @", "a != @", 'a in {"x", @}', "not (a = @)", "not (a != @)", 'not (a in {"x", @, 3})'),
    *('a = "x"', 'a >= "n"', 'a prefix "n"', "exists a", "not exists a", 'not (a > "nb")', "a in {3, true}"),
]
"""Conditions; @ is the place of the name."""
VALUES = (None, "x", "na", "nb", "${name}", "$", "", 3, True)
NAMES = ("na", "x", "${name}", "nb/1")


def combined(rng: random.Random) -> str:
    text = rng.choice(ATOMS)
    for _ in range(rng.randint(0, 3)):
        text += rng.choice((" and ", " or ")) + rng.choice(ATOMS)
    return text


def with_name(form: str, name: str) -> str:
    return form.replace("@", f'"{name}"')


def meaning(text: str) -> frozenset[object]:
    """The values that satisfy the predicate; none if it can never match."""
    try:
        predicate = parse(text)
    except PredicateError:
        return frozenset()
    return frozenset(repr(v) for v in VALUES if predicate_matches(predicate, {} if v is None else {"a": v}))


@pytest.mark.parametrize("seed", range(8))
def test_a_rule_means_the_predicate_of_each_name(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(8):
        form = combined(rng)
        try:
            rule = compile_rule(with_name(form, NAME))
        except PredicateError:
            assert not any(meaning(with_name(form, name)) for name in NAMES)
            continue
        for name in NAMES:
            bound = rule.bound(name)
            mine = {repr(v) for v in VALUES if predicate_matches(bound, {} if v is None else {"a": v})}
            assert mine == meaning(with_name(form, name)), (form, name)


def test_a_name_and_a_fixed_operand_do_not_contradict_each_other() -> None:
    rule = compile_rule('a = "${name}" and a = "x"')
    assert predicate_matches(rule.bound("x"), {"a": "x"})
    assert not predicate_matches(rule.bound("y"), {"a": "x"})
    assert rule.asks_name
    assert not compile_rule('a = "x"').asks_name


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ('a > "${name}"', 5, "> does not take ${name}; =, != and in do"),
        ('b = 1 and a prefix "${name}"', 20, "prefix does not take ${name}; =, != and in do"),
        ('a in {"x", "y${name}"}', 12, '"${name}" stands alone, without text beside it'),
        ('not (a = "${nme}")', 10, "${nme} stands for nothing, did you mean ${name}?"),
        ('a = "${tenant}"', 5, "${tenant} comes later: a network has one tenant in this release"),
        ("`\\0a` = 1", 1, "in a rule no attribute begins with the character U+0000"),
        (f'{"a" * 256} = "${{name}}"', 1, "a name compared with ${name} has at most 255 bytes"),
        (
            'a = "${name}" and not (a = "${name}")',
            19,
            'this can never match: a = "${name}" and not (a = "${name}") can never both hold',
        ),
        (r"`b\0` = 1 and `b\0` = 2", 15, r"this can never match: b\x00 = 1 and b\x00 = 2 can never both hold"),
    ],
)
def test_what_is_no_rule_says_where(text: str, column: int, problem: str) -> None:
    with pytest.raises(PredicateError) as error:
        compile_rule(text)
    assert (error.value.column, error.value.problem) == (column, problem)


PATTERNS = [
    *(("orders-*", "orders-", True), ("orders-*", "orders-eu", True), ("orders-*", "orders", False)),
    *(("*", "x", True), ("orders", "orders", True), ("orders", "orders-eu", False)),
    *(("${name}-*", "me-1", True), ("${name}-*", "you-1", False), ("${name}", "me", True)),
]


@pytest.mark.parametrize(("pattern", "name", "matches"), PATTERNS)
def test_patterns(pattern: str, name: str, matches: bool) -> None:
    assert (first_match([read_pattern(pattern)], name, "me") is not None) is matches


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        *(("a*", "ab*", True), ("ab*", "a*", True), ("a*", "b*", False), ("a", "a*", True), ("b", "a*", False)),
        *(("a", "a", True), ("a", "b", False), ("${name}-x", "a*", True), ("p-${name}", "q*", False)),
    ],
)
def test_patterns_that_may_share_a_name(one: str, other: str, share: bool) -> None:
    assert read_pattern(one).may_share(read_pattern(other)) is share


@pytest.mark.parametrize("text", ["a*b", "**", "", " *", "${tenant}-*", "${x}", "a\u200b*"])
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        read_pattern(text)
