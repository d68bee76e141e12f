"""The predicate language: what a text means, what is said of one that is wrong, and that no text costs much."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.errors import PredicateError
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.filters import EVERYTHING, NOTHING, Constraint, Filter, Op, Predicate
from tamis.protocol.language import Compiled, compile_text, format_constraint, format_predicate, literals, parse
from tamis.protocol.language.compile import _Expansion, _few, compile_tree, read_plainly
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.language.parse import parse_tree, parser
from tamis.protocol.language.plain_text import plain_predicate
from tamis.protocol.normal import normalize_predicate
from tests.fuzz import predicate as fuzz
from tests.slowdown import slowdown
from tests.strategies import attributes, predicates, wide_names, wide_values


def refusal(text: str, **options: int) -> PredicateError:
    with pytest.raises(PredicateError) as caught:
        parse(text, **options)
    return caught.value


def of(*filters: list[Constraint]) -> Predicate:
    return normalize_predicate(Predicate(tuple(Filter(tuple(constraints)) for constraints in filters)))


A, B, C = (Constraint(name, Op.EQ, (1,)) for name in "abc")


# --- meaning -------------------------------------------------------------------------------------------------------

MEANINGS = {
    "x = 1": Constraint("x", Op.EQ, (1,)),
    "x == 1": Constraint("x", Op.EQ, (1,)),
    "x=1.0": Constraint("x", Op.EQ, (1,)),
    "x != 'a'": Constraint("x", Op.NE, ("a",)),
    'x <> "a"': Constraint("x", Op.NE, ("a",)),
    "x<-3": Constraint("x", Op.LT, (-3,)),
    "x <= 0x1F": Constraint("x", Op.LE, (31,)),
    "x > -0x10": Constraint("x", Op.GT, (-16,)),
    "x >= 1.5e3": Constraint("x", Op.GE, (1500,)),
    "x < 1e300": Constraint("x", Op.LT, (1e300,)),
    "x >= -9223372036854775808": Constraint("x", Op.GE, (limits.INT_MIN,)),
    "x ^= 'ab'": Constraint("x", Op.PREFIX, ("ab",)),
    "x prefix 'ab'": Constraint("x", Op.PREFIX, ("ab",)),
    "x $= 'ab'": Constraint("x", Op.SUFFIX, ("ab",)),
    "x Suffix 'ab'": Constraint("x", Op.SUFFIX, ("ab",)),
    "x *= 'ab'": Constraint("x", Op.CONTAINS, ("ab",)),
    "x contains 'ab'": Constraint("x", Op.CONTAINS, ("ab",)),
    "x SUBSTRING 'ab'": Constraint("x", Op.CONTAINS, ("ab",)),
    "x between 1 and 2.5": Constraint("x", Op.BETWEEN, (1, 2.5)),
    "x in {2, 'a', true}": Constraint("x", Op.IN, (2, "a", True)),
    "x in{1}": Constraint("x", Op.EQ, (1,)),
    "exists x": Constraint("x", Op.EXISTS),
    "x = true": Constraint("x", Op.EQ, (True,)),
    "x = FALSE": Constraint("x", Op.EQ, (False,)),
    "not exists x": Constraint("x", Op.EXISTS, (), True),
    "alert-type = 1": Constraint("alert-type", Op.EQ, (1,)),
    "a.b:c/d@e_f = 1": Constraint("a.b:c/d@e_f", Op.EQ, (1,)),
    "and-so-on = 1": Constraint("and-so-on", Op.EQ, (1,)),
    "notx = 1": Constraint("notx", Op.EQ, (1,)),
    "true.x = 1": Constraint("true.x", Op.EQ, (1,)),
    "größe = 1": Constraint("größe", Op.EQ, (1,)),
    "`in` = 1": Constraint("in", Op.EQ, (1,)),
    r"`a \`b\x41` = 1": Constraint("a `bA", Op.EQ, (1,)),
    r"""x = "a\n\t\r\0\\\"\'\x41\u00e9\U0001F600" """: Constraint("x", Op.EQ, ("a\n\t\r\0\\\"'Aé\U0001f600",)),
    "x = 'say \"hi\"' # a comment, 'x'": Constraint("x", Op.EQ, ('say "hi"',)),
    "\n# first\nx\n=\n1\n": Constraint("x", Op.EQ, (1,)),
    "x = '# none'": Constraint("x", Op.EQ, ("# none",)),
    "((x = 1))": Constraint("x", Op.EQ, (1,)),
    "x not in {1, 2}": Constraint("x", Op.IN, (1, 2), True),
    "x !in {1}": Constraint("x", Op.EQ, (1,), True),
    "x not between 1 and 2": Constraint("x", Op.BETWEEN, (1, 2), True),
    "5 < x": Constraint("x", Op.GT, (5,)),
    "'a' = x": Constraint("x", Op.EQ, ("a",)),
    "(x) >= ((3))": Constraint("x", Op.GE, (3,)),
    "x > 10 * 60 - 2 * -3": Constraint("x", Op.GT, (606,)),
    "x = 7 / 2": Constraint("x", Op.EQ, (3.5,)),
    "x = 6 / 2": Constraint("x", Op.EQ, (3,)),
    "x = -7 % 3": Constraint("x", Op.EQ, (-1,)),
    "x = - 3": Constraint("x", Op.EQ, (-3,)),
    "x < 9223372036854775807 + 1": Constraint("x", Op.LT, (2.0**63,)),
    "x like 'ab'": Constraint("x", Op.EQ, ("ab",)),
    "x like ''": Constraint("x", Op.EQ, ("",)),
    "x LIKE'ab%'": Constraint("x", Op.PREFIX, ("ab",)),
    "x like '%ab'": Constraint("x", Op.SUFFIX, ("ab",)),
    "x like '%%ab%'": Constraint("x", Op.CONTAINS, ("ab",)),
    "x like '%'": Constraint("x", Op.PREFIX, ("",)),
    "x not like 'ab%'": Constraint("x", Op.PREFIX, ("ab",), True),
    "x like '10!%%' escape '!'": Constraint("x", Op.PREFIX, ("10%",)),
    "x in 10.1.2.3/32": Constraint("x", Op.EQ, ("10.1.2.3",)),
    "like = 1": Constraint("like", Op.EQ, (1,)),
    "escape = 1": Constraint("escape", Op.EQ, (1,)),
    "length = 1": Constraint("length", Op.EQ, (1,)),
    "a::b/8 = 1": Constraint("a::b/8", Op.EQ, (1,)),
    "a-1 = 1": Constraint("a-1", Op.EQ, (1,)),
}


@pytest.mark.parametrize("text", MEANINGS)
def test_one_condition(text: str) -> None:
    assert parse(text) == of([MEANINGS[text]])


COMBINATIONS = {
    "a=1 and b=1 or c=1": of([A, B], [C]),
    "a=1 or b=1 and c=1": of([A], [B, C]),
    "(a=1 or b=1) and c=1": of([A, C], [B, C]),
    "a=1 & b=1 | c=1": of([A, B], [C]),
    "a=1 && b=1 || c=1": of([A, B], [C]),
    "a=1 AND b=1 Or c=1": of([A, B], [C]),
    "not a=1 and b=1": of([A.negate(), B]),
    "!a=1 or b=1": of([A.negate()], [B]),
    "not (a=1 or b=1)": of([A.negate(), B.negate()]),
    "not (a=1 and b=1)": of([A.negate()], [B.negate()]),
    "not not a=1": of([A]),
    "!!(a=1 and not (b=1 or !(c=1)))": of([A, B.negate(), C]),
    "true": Predicate((EVERYTHING,)),
    "not false": Predicate((EVERYTHING,)),
    "false": NOTHING,
    "not true": NOTHING,
    "true and a=1": of([A]),
    "false or a=1": of([A]),
    "false and a=1": NOTHING,
    "a=1 or a=1": of([A]),
}


@pytest.mark.parametrize("text", COMBINATIONS)
def test_precedence_and_negation(text: str) -> None:
    assert parse(text) == COMBINATIONS[text]


def test_the_example_of_the_architecture() -> None:
    text = 'severity > 2 and alert-type = "intrusion" or class = "alert" and device ^= "web"'
    predicate = parse(text)
    assert predicate_matches(predicate, {"severity": 3, "alert-type": "intrusion"})
    assert predicate_matches(predicate, {"class": "alert", "device": "web-3"})
    assert not predicate_matches(predicate, {"severity": 3, "class": "alert", "device": "db"})


# --- the common texts, which are read without the grammar ----------------------------------------------------------

PLAIN = [
    "x >= 1.5 and x <= 20 and y >= 3 and y < 0x10",
    'severity > 2 and alert-type = "intrusion" or class = "alert" && device ^= "web"',
    "price Between 10 AND 20 and venue in { 'X', \"Y\",3 , true}",
    "exists region&exists x|a=1",
    "ok = TRUE and größe != 'é' || x suffix '\U0010ffff'",
    "\tand-so-on=1 and in.stock = false\n",
]


@pytest.mark.parametrize("text", PLAIN)
def test_common_texts_need_no_grammar(text: str) -> None:
    plain = plain_predicate(text, limits.DISJUNCTS_MAX)
    assert plain is not None
    assert Compiled(plain) == compile_tree(parse_tree(text), limits.DISJUNCTS_MAX)


CONDITIONS = st.sampled_from(["a = 1", "a > 2", "b in {1, 2, 3}", 'c ^= "x"', "exists d", "a != 3", "not b = 1"])
TREES = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        inner.map(lambda text: f"not ({text})"),
        st.lists(inner, min_size=2, max_size=4).map(lambda texts: f"({' and '.join(texts)})"),
        st.lists(inner, min_size=2, max_size=4).map(lambda texts: f"({' or '.join(texts)})"),
    ),
    max_leaves=24,
)


@pytest.mark.parametrize("disjuncts_max", [2, limits.DISJUNCTS_MAX])
@given(TREES)
def test_few_conditions_have_the_predicate_of_their_expansion(disjuncts_max: int, text: str) -> None:
    tree = parse_tree(text)
    few, expansion = _few(tree, disjuncts_max, read_plainly), _Expansion(disjuncts_max, read_plainly)
    if few is not None:
        assert few == Predicate(tuple(expansion.expand(tree, negated=False, depth=0)))
        assert not expansion.dropped


def test_few_conditions_are_not_expanded() -> None:
    for text in ("a = 1", 'not (a = 1 or b > 2) and (c ^= "x" or exists d)'):
        assert _few(parse_tree(text), limits.DISJUNCTS_MAX, read_plainly) is not None
    for text in ("a = 1 and a = 2 or b = 1", "(a = 1 or b = 1) and (c = 1 or d = 1)", 'a between "b" and "a"'):
        assert _few(parse_tree(text), 3, read_plainly) is None


def check_as_the_grammar_reads_it(text: str, disjuncts_max: int = limits.DISJUNCTS_MAX) -> None:
    plain = plain_predicate(text, disjuncts_max)
    if plain is not None:
        try:
            assert Compiled(plain) == compile_tree(parse_tree(text), disjuncts_max)
        except SyntaxMistake as mistake:
            pytest.fail(f"the grammar refuses it: {mistake.problem}")


TOKENS = [
    *literals.RESERVED,
    *"(){},=`&|!#",
    "x",
    "y-1",
    "a:",
    "1",
    "-0x1F",
    "2.5",
    '"a"',
    "'b'",
    '"\\n"',
    "<=",
    "<>",
    "*=",
]
CONDITIONS = [
    "x=1",
    "x > 2",
    "y in {1,2}",
    "x between 1 and 3",
    "exists y",
    "z ^= 'a'",
    "x<1",
    "x = 'a' ",
    "z *='b'",
    "x!=1",
]


@given(st.lists(st.sampled_from(TOKENS), max_size=12), st.sampled_from(["", " ", "\n"]))
def test_what_is_read_without_the_grammar_means_the_same(words: list[str], between: str) -> None:
    check_as_the_grammar_reads_it(between.join(words))


@given(
    st.lists(
        st.tuples(st.sampled_from(CONDITIONS), st.sampled_from([" and ", " or ", "&", "|", "\tOR\n"])), min_size=1
    ),
    st.integers(1, 5),
)
def test_conditions_that_are_joined_mean_the_same(joined: list[tuple[str, str]], disjuncts_max: int) -> None:
    check_as_the_grammar_reads_it(
        "".join(part for pair in joined for part in pair)[: -len(joined[-1][1])], disjuncts_max
    )


@given(predicates().map(normalize_predicate).map(format_predicate))
def test_written_predicates_mean_the_same_without_the_grammar(text: str) -> None:
    check_as_the_grammar_reads_it(text)


@st.composite
def texts_with_meaning(draw: st.DrawFn, depth: int = 3):
    """A text, and what it says of a message, by Python's own `and`, `or` and `not`."""
    kind = draw(st.sampled_from(["leaf", "not", "and", "or"] if depth else ["leaf"]))
    if kind == "leaf":
        constraint = Constraint(draw(st.sampled_from("ab")), Op.LT, (draw(st.integers(0, 2)),))
        plain = Predicate((Filter((constraint,)),))
        return format_constraint(constraint), lambda message: predicate_matches(plain, message)
    one, one_holds = draw(texts_with_meaning(depth - 1))
    if kind == "not":
        return f"not ({one})", lambda message: not one_holds(message)
    other, other_holds = draw(texts_with_meaning(depth - 1))
    if kind == "and":
        return f"({one}) and ({other})", lambda message: one_holds(message) and other_holds(message)
    return f"({one}) or ({other})", lambda message: one_holds(message) or other_holds(message)


@given(texts_with_meaning(), st.lists(attributes(), min_size=1, max_size=5))
def test_expansion_keeps_the_meaning(drawn, messages) -> None:
    text, holds = drawn
    predicate = NOTHING
    try:
        predicate = parse(text)
    except PredicateError as error:
        if "never match" not in error.problem:
            raise
    for message in messages:
        assert predicate_matches(predicate, message) == holds(message)


# --- text out ------------------------------------------------------------------------------------------------------


@given(predicates().map(normalize_predicate))
def test_a_normal_form_is_written_and_read_back(predicate: Predicate) -> None:
    text = format_predicate(predicate)
    assert parse(text) == predicate
    assert format_predicate(parse(text)) == text
    assert text.isprintable()


@given(wide_names(), wide_values())
def test_any_name_and_value_are_written_and_read_back(name, value) -> None:
    if isinstance(value, str):
        value = value[: limits.OPERAND_BYTES_MAX // 4]
    constraint = Constraint(name, Op.EQ, (value,))
    assert parse(format_constraint(constraint)) == of([constraint])


def test_the_largest_filter_is_read_back() -> None:
    constraints = [Constraint(f"n{n:02}", Op.LT, (n,), bool(n % 2)) for n in range(limits.CONSTRAINTS_MAX)]
    predicate = of(constraints)
    assert parse(format_predicate(predicate)) == predicate


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (Constraint("a b", Op.EQ, ("x\n\x1b\"\\'",)), r'''`a b` = "x\n\x1b\"\\'"'''),
        (Constraint("In", Op.IN, (2, "b", 0.5)), '`In` in {0.5, 2, "b"}'),
        (Constraint("x", Op.BETWEEN, (1, 2), True), "not (x between 1 and 2)"),
        (Constraint("x", Op.EXISTS, (), True), "not exists x"),
        (Constraint("a`b", Op.PREFIX, ("\u202e\U000e0001",)), r'`a\`b` prefix "\u202e\U000e0001"'),
        (Constraint("x", Op.LE, (1e300,)), "x <= 1e+300"),
    ],
)
def test_the_written_form(constraint: Constraint, text: str) -> None:
    assert format_constraint(constraint) == text


def test_patterns_of_literals_are_those_of_the_grammar() -> None:
    terminals = {terminal.name: terminal.pattern.value for terminal in parser().terminals}
    assert literals.NUMBER.pattern == terminals["NUMBER"]
    assert literals.BARE_NAME.pattern == terminals["NAME"]


@pytest.mark.parametrize("word", sorted(literals.RESERVED))
def test_words_of_the_language_are_no_names(word: str) -> None:
    for spelling in (word, word.upper(), word.title()):
        assert refusal(f"{spelling} = 1").line == 1
        assert parse(f"`{spelling}` = 1") == of([Constraint(spelling, Op.EQ, (1,))])


# --- errors --------------------------------------------------------------------------------------------------------

# text, column, part of the problem, part of the hint; on line 1
MISTAKES = [
    ("", 1, "expected a condition such as `price < 10`, but the text ends here", "`true` is the predicate"),
    ("   # nothing", 1, "expected a condition", "`true`"),
    ("x", 2, "expected an operator", ""),
    ("x =", 4, "expected a value", ""),
    ("x = 1 and", 10, "expected a condition", ""),
    ("not", 4, "expected a condition", ""),
    ("exists", 7, "expected the name of an attribute", ""),
    ("x =< 3", 3, "no operator `=<`", "did you mean `<=`?"),
    ("x => 3", 3, "no operator `=>`", "did you mean `>=`?"),
    ("x === 3", 3, "no operator `===`", "did you mean `=`?"),
    ("x !== 3", 3, "no operator `!==`", "did you mean `!=`?"),
    ("x = = 3", 5, "expected a value", ""),
    ("x =~ 'a'", 3, "no operator `=~`", "no regular expressions"),
    ("x matches 'a'", 3, "expected an operator", "no regular expressions"),
    ("x startswith 'a'", 3, "expected an operator", "did you mean `prefix`?"),
    ("x endsWith 'a'", 3, "expected an operator", "did you mean `suffix`?"),
    ("x like a", 3, "expected an operator", "`like` takes a pattern in quotes"),
    ("x ilike 'a'", 3, "expected an operator", "did you mean `like`?"),
    ("x contain 'a'", 3, "found `contain`", "did you mean `contains`?"),
    ("x 'a\u070e'", 3, "found `'a\\u070e'`", ""),
    ("x prefx 'a'", 3, "found `prefx`", "did you mean `prefix`?"),
    ("x betwen 1 and 2", 3, "expected an operator", "did you mean `between`?"),
    ("x is 3", 3, "expected an operator", "did you mean `=`?"),
    ("x gte 3", 3, "expected an operator", "did you mean `>=`?"),
    ("x not = 1", 7, "expected `in`, `between` or `like` behind `not`", "`not` stands before a condition"),
    ("x exists", 3, "expected an operator", "`exists` before the name"),
    ("exists(x)", 7, "expected the name of an attribute", "without parentheses"),
    ("x in (1, 2)", 6, "expected a list of values", "in braces"),
    ("x in [1, 2]", 6, "the character `[`", "in braces"),
    ("x in {}", 6, "takes 1 to 256 values, this one has 0", ""),
    ("x in {1 2}", 9, "expected `,` or `}`", ""),
    ("x in {1,}", 9, "expected a value", ""),
    ("x in {", 7, "expected a value or `}`", ""),
    ("x in {a}", 7, "expected a value", '"a"'),
    ("x between 20 and 10", 11, "20 is above 10", ""),
    ("x between 1 and 'a'", 11, "two numbers or two strings", ""),
    ("x between 1 and true", 17, "not the boolean", ""),
    ("x between 1, 2", 12, "expected `and` and the upper bound", ""),
    ("x between 1 or 2", 13, "expected `and`", ""),
    ("x prefix 3", 10, "takes a string, not the number 3", ""),
    ("x > true", 5, "not the boolean", ""),
    ("x prefix '" + "a" * 129 + "'", 10, "at most 128 bytes", ""),
    ("x in {1, '" + "a" * 1025 + "'}", 10, "at most 1024 bytes", ""),
    ("n" * 257 + " in {1}", 1, "name has at most 256 bytes", ""),
    ("`` = 1", 1, "this one is empty", ""),
    ("x = alert", 5, "a predicate must be exact here", 'a string stands in quotes: "alert"'),
    ("x = ture", 5, "a predicate must be exact here", "did you mean `true`?"),
    ("x = 1 y = 2", 7, "expected `and`, `or` or the end, found `y`", "joined by `and` or `or`"),
    ("x = 1 adn y = 2", 7, "found `adn`", "did you mean `and`?"),
    ("x = 1, y = 2", 6, "found `,`", "joined by `and` or `or`"),
    ("x = 1; y = 2", 6, "the character `;`", "joined by `and` or `or`"),
    ("(x = 1 y = 2)", 8, "expected `and`, `or` or `)`", ""),
    ("a = 1 and (x = 1 or (y = 2)", 11, "this `(` is never closed", ""),
    ("x = 1)", 6, "found `)`", "no `(` for it"),
    ("x = 1 or 2", 10, "expected a condition", "for several values write `x in {...}`"),
    ("1 < 2", 1, "names no attribute", "for several values write `x in {...}`"),
    ("a < b", 3, "the comparison of two attributes needs a program", "`subscribe`, `durable` and `replay`"),
    ("a * 2 < 5", 7, "arithmetic needs a program", "without group and homes"),
    ("x like '%a%b%'", 3, 'the pattern "%a%b%" needs a program', ""),
    ("x ~= 'Bob'", 3, '"Bob" in any case needs a program', ""),
    ("x in 10.0.0.0/8", 3, "the network 10.0.0.0/8 needs a program", ""),
    ("x = 1 and not (lower(y) = 'a')", 25, "the function lower needs a program", ""),
    ("x < 3 < 4", 7, "found `<`", "one operator"),
    ("true = 1", 6, "found `=`", "between backticks"),
    ("in = 3", 1, "found `in`", "between backticks"),
    ("x = 9223372036854775808", 5, "outside 64 bits", ""),
    ("x = -0x8000000000000001", 5, "outside 64 bits", ""),
    ("x = " + "9" * 5000, 5, "outside 64 bits", ""),
    ("x = 1e999", 5, "beyond the largest float", ""),
    ("x = +3", 5, "+3 is not a number", "no plus sign"),
    ("x = 007", 5, "007 is not a number", "write 7"),
    ("x = 3abc", 5, "3abc is not a number", '"3abc"'),
    ("x = .5", 5, ".5 is not a number", "0.5"),
    ("x = 1_000", 5, "1_000 is not a number", ""),
    ("x = “a”", 5, "LEFT DOUBLE QUOTATION MARK", "plain quotes"),
    ("x ≤ 3", 3, "LESS-THAN OR EQUAL TO", "`<=`"),
    ("x\u00a0= 3", 2, "`U+00A0` (NO-BREAK SPACE)", ""),
    ("x = 1 \0", 7, "U+0000", ""),
    ("x = 'abc", 5, "this string is not closed by '", "must end on its line"),
    ("x = 'abc\\'", 5, "this string is not closed by '", ""),
    ("`abc = 1", 1, "this name is not closed by `", ""),
    ("x = 'a\nb'", 5, "this string is not closed", "\\n for a line break"),
    ("x = 'a\tb'", 7, "a control character in a string", "write \\t"),
    ("x = 'a\\\x1b'", 8, "a control character in a string", "write \\x1b"),
    ("x = 'a\\d'", 7, "there is no escape \\d", "written \\\\"),
    ("x = 'a\\x4g'", 7, "\\x takes 2 hexadecimal digits", ""),
    ("x = '\\u12'", 6, "\\u takes 4 hexadecimal digits", ""),
    ("x = '\\U00110000'", 6, "the last code point", ""),
    ("x = '\\ud800'", 6, "a surrogate is not a character", ""),
    ("x = 1 and \udcff", 11, "not valid UTF-8", ""),
    ("x = 1 and x = 2", 11, "never match: x = 1 and x = 2 can never both hold", ""),
]


@pytest.mark.parametrize(("text", "column", "problem", "hint"), MISTAKES, ids=lambda part: ascii(part)[:30])
def test_mistakes(text: str, column: int, problem: str, hint: str) -> None:
    error = refusal(text)
    assert (error.line, error.column) == (1, column)
    assert problem in error.problem
    assert hint in error.hint


def test_no_error_names_a_terminal() -> None:
    terminals = {terminal.name for terminal in parser().terminals}
    for text, *_ in MISTAKES:
        error = refusal(text)
        assert not terminals & set(f"{error.problem} {error.hint}".split()), error.problem


def test_an_error_on_a_later_line_shows_its_line_and_a_caret() -> None:
    error = refusal("x = 1 and\n\ty = 2 and\n\tz ? 3\n")
    assert (error.line, error.column) == (3, 4)
    assert error.caret == "\tz ? 3\n\t  ^"


@given(st.text(st.sampled_from("ab=<>!^$*(){}&|\"'`\\#,.0123 \n_-x"), max_size=30) | st.text(max_size=30))
def test_any_text_is_read_or_refused_at_a_place(text: str) -> None:
    fuzz.target(text.encode("utf-8", "surrogatepass"))


@given(st.lists(st.sampled_from([*literals.RESERVED, *"(){},=`", "x", "1", '"a"', "<=", "!", "&"]), max_size=12))
def test_any_words_are_read_or_refused_at_a_place(words: list[str]) -> None:
    fuzz.target(" ".join(words).encode())


@pytest.mark.parametrize("seed", fuzz.SEEDS)
def test_fuzz_seeds(seed: bytes) -> None:
    fuzz.target(seed)
    for cut in range(len(seed)):
        fuzz.target(seed[:cut])


# --- alternatives that can never match -----------------------------------------------------------------------------


def test_a_dropped_alternative_is_a_warning() -> None:
    compiled = compile_text("a = 1 or x = 1 and x = 2")
    assert compiled.predicate == of([A])
    assert len(compiled.warnings) == 1
    assert "dropped x = 1 and x = 2: " in compiled.warnings[0]


def test_nothing_is_dropped_in_silence_or_without_need() -> None:
    assert compile_text("a = 1 and b = 1 or false").warnings == ()
    assert compile_text("not (x = 1 and x = 2)").warnings == ()


def test_warnings_are_bounded() -> None:
    alternatives = " or ".join(f"x = {n}" for n in range(40))
    compiled = compile_text(f"({alternatives}) and ({alternatives})")
    assert len(compiled.predicate.filters) == 40
    assert len(compiled.warnings) == limits.DISJUNCTS_MAX + 1
    assert compiled.warnings[-1] == f"{40 * 39 - limits.DISJUNCTS_MAX} more dropped"


# --- bounds --------------------------------------------------------------------------------------------------------


def either(n: int) -> str:
    return f"(a{n} = 1 or b{n} = 1)"


def test_as_many_disjuncts_as_allowed_and_no_more() -> None:
    assert len(parse(" or ".join(f"x{n} = 1" for n in range(64))).filters) == limits.DISJUNCTS_MAX
    error = refusal(" or ".join(f"x{n} = 1" for n in range(65)))
    assert "more than 64 alternatives" in error.problem
    assert error.text[error.column - 1 :] == "x64 = 1"


def test_a_product_is_refused_where_it_arises() -> None:
    assert len(parse(" and ".join(map(either, range(6)))).filters) == limits.DISJUNCTS_MAX
    error = refusal(" and ".join(map(either, range(40))))
    assert error.problem == "this expands to more than 64 filters, the limit: 64 alternatives before it, times 2 here"
    assert error.text[error.column - 1 :].startswith(either(6))


def test_the_number_of_disjuncts_can_be_chosen() -> None:
    assert len(parse("a=1 or b=1", disjuncts_max=2).filters) == 2
    assert "more than 2 alternatives" in refusal("a=1 or b=1 or c=1", disjuncts_max=2).problem


def test_repeats_and_contradictions_do_not_count() -> None:
    repeated = " and ".join(["(a = 1 or b = 1)"] * 12)
    assert parse(repeated) == of([A], [A, B], [B])
    one_of = "(" + " or ".join(f"x = {n}" for n in range(30)) + ")"
    assert len(parse(f"{one_of} and {one_of}").filters) == 30


def test_as_many_constraints_as_allowed_and_no_more() -> None:
    sixteen = " and ".join(f"x{n:02} = 1" for n in range(16))
    assert len(parse(sixteen).filters[0].constraints) == limits.CONSTRAINTS_MAX
    assert parse(f"{sixteen} and x00 = 1") == parse(sixteen)
    error = refusal(f"{sixteen} and y = 1")
    assert "17 constraints must hold at once; a filter has at most 16" in error.problem
    assert error.text[error.column - 1 :] == "y = 1"


def test_nesting_is_bounded() -> None:
    deepest = "(" * 64 + "x = 1" + ")" * 64
    assert parse(deepest) == of([Constraint("x", Op.EQ, (1,))])
    assert parse("not " * 64 + "x = 1") == parse("x = 1")
    error = refusal(f"({deepest})")
    assert (error.column, error.problem) == (65, "parentheses and `not` nest at most 64 deep")
    assert refusal("not " * 65 + "x = 1").column == 64 * 4 + 1


def test_length_is_bounded() -> None:
    longest = "x = 1".ljust(limits.PREDICATE_BYTES_MAX)
    assert parse(longest) == parse("x = 1")
    assert "at most 65536 bytes of UTF-8, this one has 65537" in refusal(longest + " ").problem
    assert "this one has 65537" in refusal("x = 'é'".ljust(limits.PREDICATE_BYTES_MAX)).problem


HARD = {
    "product": " and ".join(map(either, range(40))),
    "product under not": "not (" + " or ".join(f"(a{n} = 1 and b{n} = 1)" for n in range(40)) + ")",
    "product of products": "(" * 30 + either(0) + "".join(f" and {either(n)})" for n in range(1, 31)),
    "wide product": " and ".join("(" + " or ".join(f"{c}{n}=1" for n in range(60)) + ")" for c in string.ascii_letters),
    "nots": "not (" * 40 + "a = 1" + "".join(f" or b{n} = 1)" for n in range(40)),
    "unclosed": "(" * 20_000,
    "unclosed list": "x in {" + "1," * 20_000,
    "unclosed string": "x = '" + "\\n" * 30_000,
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_no_text_costs_much(text: str) -> None:
    parse("x = 1")  # builds the parser
    start = time.process_time()
    refusal(text)
    assert time.process_time() - start < 1.0 * slowdown()


@pytest.mark.slow
def test_dropped_combinations_are_bounded_too() -> None:
    one_of = "(" + "|".join(f"x={n}" for n in range(60)) + ")"
    assert "too much work" in refusal("&".join([one_of] * 100)).problem
    # Contradictions of a dozen constraints, of which no two or three contradict each other, are the dearest to find.
    spans = [f"not (x between {n * 10} and {n * 10 + 10})" for n in range(12)]
    left = "|".join(f"x between 5 and 119 and {' and '.join(spans[:-1])} and y={n}" for n in range(32))
    right = "|".join(f"{spans[-1]} and z={n}" for n in range(60))
    start = time.process_time()
    assert "too much work" in refusal(f"({left}) and ({right})").problem
    assert time.process_time() - start < 10.0 * slowdown()
