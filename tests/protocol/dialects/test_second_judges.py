"""Evaluators that are not ours agree where they mean the same: SQLite for SQL, `common-expression-language` for CEL,
and `cloudevents` for events. The last two are asked where they are installed, by the extra `libraries`.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from random import Random

import pytest
from hypothesis import strategies as st

from tamis.protocol import dialects
from tests.protocol.dialects.agreement import said
from tests.protocol.dialects.strategies import CEL_TESTS, cel_joined
from tests.protocol.dialects.test_random import drawn

TEXTS = ["a", "ab", "aba", "aa", "", "A", "b", "%", "a_", "é"]
NUMBERS = [0, 1, 2, 3, -1, 1.5, 2.5, 7, 1000]


# --- SQL: numbers are in a and b, texts in s and t; absent ones are NULL


def number(random, depth):
    if depth == 0 or random.random() < 0.4:
        return random.choice(["a", "b", "1", "2", "1.5", "7"])
    return f"({number(random, depth - 1)} {random.choice('+-*')} {number(random, depth - 1)})"


def condition(random):
    name, negation, text = random.choice("st"), random.choice(["", "NOT "]), random.choice(TEXTS)
    return random.choice(
        [
            f"{number(random, 2)} {random.choice(['=', '<>', '<', '<=', '>', '>='])} {number(random, 2)}",
            f"{name} {random.choice(['=', '<>'])} {random.choice(['t', repr(text)])}",
            f"{name} {negation}LIKE '{''.join(random.choice('ab%_') for _ in range(random.randrange(5)))}'",
            f"{name} {negation}LIKE '!{random.choice('%_!')}{random.choice(['', '%', 'a_'])}' ESCAPE '!'",
            f"{name} {negation}IN ('a', '{text}')",
            f"{random.choice('abst')} IS {negation}NULL",
        ]
    )


def selector(random, depth):
    if depth == 0:
        return condition(random)
    if random.random() < 0.3:
        return f"NOT ({selector(random, depth - 1)})"
    return f"({selector(random, depth - 1)} {random.choice(['AND', 'OR'])} {selector(random, depth - 1)})"


@pytest.fixture
def database():
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.execute("PRAGMA case_sensitive_like = ON")
        yield opened


@pytest.mark.parametrize("name", ["jms", "amqp-sql", "azure"])
def test_sqlite_wants_the_same(name, database):
    random, dialect = Random(7), dialects.get(name)
    wanted = 0
    for _ in range(300):
        text = selector(random, random.randint(0, 3))
        found = dialect.translate(text)
        for _ in range(3):
            event = {key: random.choice(NUMBERS if key in "ab" else TEXTS) for key in "abst" if random.random() < 0.8}
            query = f"WITH e(a, b, s, t) AS (VALUES (?, ?, ?, ?)) SELECT ({text}) IS TRUE FROM e"  # noqa: S608
            [[wants]] = database.execute(query, [event.get(key) for key in "abst"])
            assert said(found, dialect.attributes(event)) is bool(wants), (text, event)
            wanted += wants
    assert 100 < wanted < 800


# --- CEL: an event has integers or fractions, and no null, list or map, which are errors here

NAME = r'(?:[abc]|m\.\w|m\["x"\])'
OTHERWISE = re.compile(
    rf"has\((?!m\.)|m\.y [<>]|[<>]=? m\.y|{NAME} \+ {NAME}|\d\.\de?\d? [-+*/]|[-+*/] 2\.0|\du|[<>]=? ?(true|false)"
)
"""Filters of which something is decided here: arithmetic of integers with doubles, texts without a literal, an order of
booleans, presence of variables, literals of uint."""


def cel_event(random):
    numbers = random.choice([[0, 1, 2, 3, -1, 7], [0.5, 1.5, 2.5, -0.5]])
    values = [*numbers, "a", "ab", "aba", ""]
    event = {name: random.choice(values) for name in "abc" if random.random() < 0.8}
    inner = {"x": random.choice(values), "y": random.choice([True, False])}
    return event | {"m": {name: value for name, value in inner.items() if random.random() < 0.8}}


def test_another_evaluator_of_cel_wants_the_same():
    cel = pytest.importorskip("cel")
    random, dialect, wanted, pairs = Random(7), dialects.get("cel"), 0, 0
    texts = drawn(st.recursive(CEL_TESTS, cel_joined, max_leaves=5), 400)
    for text in texts:
        if OTHERWISE.search(text):
            continue
        found = dialect.translate(text)
        for _ in range(4):
            event = cel_event(random)
            try:
                wants = cel.evaluate(text, event) is True
            except Exception:  # whatever it calls an error of evaluation
                wants = False
            assert said(found, dialect.attributes(event)) is wants, (text, event)
            wanted, pairs = wanted + wants, pairs + 1
    assert pairs > 400
    assert wanted > pairs / 20


# --- CloudEvents: what the library makes of an event


def test_events_of_the_library_have_the_attributes_that_filters_ask_for():
    events = pytest.importorskip("cloudevents.core.v1.event")
    formats = pytest.importorskip("cloudevents.core.formats.json")
    said_of = {"type": "com.example.sent", "source": "/shop", "id": "1", "specversion": "1.0", "hop": 5, "vip": True}
    event = events.CloudEvent(attributes=dict(said_of), data={"n": 1})
    attributes = dialects.get("cloudevents").attributes(json.loads(formats.JSONFormat().write(event)))
    assert attributes.items() >= said_of.items()
    assert not {"data", "data_base64"} & set(attributes)
    for text, wanted in {
        '{"prefix": {"type": "com."}}': True,
        '{"exact": {"hop": "5", "vip": "true"}}': True,
        '{"not": {"exact": {"source": "/shop"}}}': False,
    }.items():
        assert said(dialects.get("cloudevents").translate(text), attributes) is wanted
