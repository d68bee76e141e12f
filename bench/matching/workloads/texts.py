"""Filters on texts: paths of topics, lines of logs, and long names of attributes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

from tamis.bench.matching import words
from tamis.bench.matching.workloads.kind import Kind, Size
from tamis.bench.matching.workloads.pieces import Choice, condition, condition_head, conjunction, message, pack
from tamis.protocol.filters import Op

# --- topics: prefixes of paths ---------------------------------------------------------------------------------------

_FAN = 10
_DEPTHS = ((1, 0.01), (2, 0.09), (3, 0.30), (4, 0.60))


def _path(leaf: int, depth: int = 4) -> str:
    site, line, machine, sensor = leaf // _FAN**3, leaf // _FAN**2 % _FAN, leaf // _FAN % _FAN, leaf % _FAN
    parts = (f"site-{site}", f"line-{line}", f"machine-{machine}", f"sensor-{sensor}")
    return "/".join(parts[:depth]) + "/"


def _topic_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    topic = condition_head("topic", Op.PREFIX)
    depths = rng.choices([depth for depth, _ in _DEPTHS], [share for _, share in _DEPTHS], k=size.filters)
    for depth in depths:
        yield conjunction(topic + pack(_path(rng.randrange(size.filters), depth)))


def _topic_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    topic, qos = pack("topic"), pack("qos")
    for _ in range(size.messages):
        yield message(rng, topic + pack(_path(rng.randrange(size.filters))), qos + pack(rng.randrange(3)))


TOPICS = Kind(
    about='A user of topics: a site, a line, a machine or a sensor by its path, prefix "site-3/line-7/".',
    hits="about 23 (10 by site, 9 by line, 3 by machine, 1 by sensor)",
    filters=_topic_filters,
    messages=_topic_messages,
)


# --- logs: level and contains ----------------------------------------------------------------------------------------

_VOCABULARY = 1_000
_LINE_WORDS = 10
_WANTED = {"error": 0.6, "warning": 0.3, "info": 0.1}
_WRITTEN = {"error": 0.15, "warning": 0.25, "info": 0.6}


def _phrase(rng: random.Random) -> str:
    return " ".join(rng.choices(words.words(_VOCABULARY), k=2))


def _log_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    levels = Choice.of((condition("level", Op.EQ, level), share) for level, share in _WANTED.items()).draw(rng)
    text = condition_head("text", Op.CONTAINS)
    for _ in range(size.filters):
        wanted = f"user-{rng.randrange(size.filters):07d}" if rng.randrange(2) else _phrase(rng)
        yield conjunction(next(levels), text + pack(wanted))


def _log_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    levels = Choice.of((pack("level") + pack(level), share) for level, share in _WRITTEN.items()).draw(rng)
    text, host = pack("text"), pack("host")
    for _ in range(size.messages):
        line = rng.choices(words.words(_VOCABULARY), k=_LINE_WORDS)
        line.insert(rng.randrange(_LINE_WORDS), f"user-{rng.randrange(size.filters):07d}")
        yield message(rng, next(levels), text + pack(" ".join(line)), host + pack(f"host-{rng.randrange(1_000)}"))


LOGS = Kind(
    about='A search for a user or a phrase in log lines of one level: level = "error" and text contains.',
    hits="0.1 by user, and F / 1,000,000 by phrase",
    filters=_log_filters,
    messages=_log_messages,
)


# --- telemetry: long names, 64 attributes ----------------------------------------------------------------------------

_ATTRIBUTES = 64


def _telemetry_filters(form: str, size: Size, rng: random.Random) -> Iterator[bytes]:
    numbers = list(range(size.filters))
    rng.shuffle(numbers)
    for number in numbers:
        yield conjunction(condition(form % number, Op.GT, rng.randint(60, 100)))


def _telemetry_messages(form: str, size: Size, rng: random.Random) -> Iterator[bytes]:
    for _ in range(size.messages):
        chosen = rng.sample(range(size.filters), min(_ATTRIBUTES, size.filters))
        yield message(rng, *(pack(form % number) + pack(rng.randint(0, 70)) for number in chosen))


def _telemetry(about: str, form: str) -> Kind:
    filters, messages = partial(_telemetry_filters, form), partial(_telemetry_messages, form)
    return Kind(about, "about 1", filters, messages, drawn_as="telemetry")


TELEMETRY = _telemetry(
    "A collector with 64 readings in a message, each under its full name: sensors.00000017.celsius > 80.",
    "sensors.%08d.celsius",
)
TELEMETRY_SHORT = _telemetry("A collector as above, with short names: s17 > 80.", "s%d")

TEXTS = {"topics": TOPICS, "logs": LOGS, "telemetry": TELEMETRY, "telemetry-short": TELEMETRY_SHORT}
