"""Whatever text arrives is translated or refused with its place, within bounded time."""

from __future__ import annotations

import contextlib
import cProfile
import pstats
import random
import signal
import time
from collections import defaultdict

import pytest

from tamis.protocol import dialects, limits
from tamis.protocol.errors import DialectError
from tests.protocol.dialects.tables import cases_of
from tests.protocol.dialects.worst import SIZE, WORST

CALLS_MAX = 75_000_000
"""Calls of one translation of the largest text; the worst that is known has half as many."""

ODD = [
    "\0",
    "\ud800",
    "é",
    "\U0010ffff",
    "\n",
    '"',
    "'",
    "\\",
    "{",
    "[",
    "(",
    ")",
    "%",
    "_",
    "#",
    "+",
    ">",
    "*",
    "?",
    "&",
    "0",
    "-",
    ".",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", dialects.names())
def test_mutated_filters_are_translated_or_refused(name):
    dialect = dialects.get(name)
    texts = [case.filter for case in cases_of(name)]
    chance = random.Random(7)
    for _ in range(1_500):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 4)):
            at = chance.randint(0, len(text))
            piece = chance.choice([chance.choice(ODD), "", chance.choice(texts)[: chance.randint(0, 9)]])
            text = text[:at] + piece + text[at + chance.randint(0, 3) :]
        try:
            found = dialect.translate(text)
        except DialectError as error:
            assert min(error.line, error.column) >= 1  # noqa: PT017 - most texts are translated
        else:
            assert len(found.predicate.filters) <= limits.DISJUNCTS_MAX


@pytest.mark.slow
@pytest.mark.parametrize("name", dialects.names())
@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        '{"not": ' * 7_000 + "{}" + "}" * 7_000,
        '{"any": [' + ", ".join(f'{{"prefix": {{"a{at}": "5"}}}}' for at in range(2_000)) + "]}",
        '{"all": [' + ", ".join(f'{{"prefix": {{"a{at}": "5"}}}}' for at in range(2_000)) + "]}",
        "(" * 60_000,
        "NOT " * 16_000 + "a",
        " AND ".join(f"(a{at} = 1 OR b{at} = 2)" for at in range(2_000)),
        " OR ".join(f"(a{at} = 1 AND NOT b{at} = 2)" for at in range(2_000)),
        " XOR ".join(f"a{at} = 'x'" for at in range(2_000)),
        " OR ".join(f"x = {at}" for at in range(3_000)),
        "a LIKE '" + "%a" * 20_000 + "'",
        "+/" * 30_000,
        "*." * 30_000 + ">",
        "a/#?" + "&".join(f"k{at}=1" for at in range(5_000)),
        "#." * 100 + "#",
    ],
    ids=lambda text: text[:12],
)
def test_a_large_filter_takes_bounded_time(name, text):
    started = time.process_time()
    try:
        dialects.get(name).translate(text)
    except DialectError as error:
        assert error.problem  # noqa: PT017
    assert time.process_time() - started < 10


def each_way():
    """Return the texts: those of one dialect each as `slow`, the same texts in other dialects as `long`."""
    dialects_of = defaultdict(list)
    for name, ways in WORST.items():
        for way in ways:
            dialects_of[way].append(name)
    for number, (way, names) in enumerate(dialects_of.items()):
        for name in names:
            mark = pytest.mark.slow if name == names[number % len(names)] else pytest.mark.long
            yield pytest.param(name, way, marks=mark)


@pytest.mark.parametrize(("name", "way"), list(each_way()))
def test_the_largest_text_takes_bounded_work(name, way):
    dialect, text = dialects.get(name), WORST[name][way]
    assert SIZE - 3_000 < len(text.encode()) <= SIZE or way.startswith("few")
    counted = cProfile.Profile()
    with ended_after(cpu_s=120):
        try:
            found = counted.runcall(dialect.translate, text)
        except DialectError as error:
            assert error.problem  # noqa: PT017
        else:
            assert len(found.predicate.filters) <= limits.DISJUNCTS_MAX
    assert pstats.Stats(counted).total_calls <= CALLS_MAX


@contextlib.contextmanager
def ended_after(cpu_s):
    """Fail what takes more CPU time than this: work without a bound would never be counted."""

    def end(*_):
        pytest.fail(f"it took more than {cpu_s} seconds")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def test_every_dialect_has_worst_texts():
    assert set(WORST) == set(dialects.names())
