"""Deliveries of a live router against an evaluator of the stranger's own: none missing, none too many.

At commit da1168e 4,008,000 decisions in 501 rounds were as the pages say.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.stranger.chance import Chance
from tests.stranger.client import Stranger
from tests.stranger.frames import EQ
from tests.stranger.meaning import satisfies
from tests.stranger.routers import Network

FILTERS_MAX = 120
MESSAGES = 60
END = "the end"


def one_round(chance: Chance, reader: Stranger, writer: Stranger, held: dict[int, list], wait: int) -> int:
    """Half of what is held goes, something new comes; then messages. How many decisions were compared."""
    gone = [id_ for id_ in held if id_ and chance.random() < 0.5]
    if gone:
        assert reader.unsubscribe(*gone) == {}
    for id_ in gone:
        del held[id_]
    fresh = chance.sample(range(1, 2**20), chance.randint(1, FILTERS_MAX))
    asked = {id_: chance.disjunction() for id_ in fresh if id_ not in held} | (
        {} if held else {0: [[[END, EQ, reader.name]]]}
    )
    refused = reader.subscribe(asked, wait=wait)
    assert set(refused.values()) <= {2}, "what is drawn is within the limits of the page"
    held |= {id_: filters for id_, filters in asked.items() if id_ not in refused}
    messages = [chance.attributes() for _ in range(MESSAGES)]
    counters = {writer.publish(each): number for number, each in enumerate(messages)}
    writer.publish({END: reader.name})
    got: dict[int, list[int]] = {}
    while (found := reader.message()).attributes.get(END) != reader.name:
        number = counters.get(found.header.counter)
        if number is None:
            continue  # of a round that was the other reader's
        assert number > max(got, default=-1), "a message came twice, or late"
        got[number] = sorted(found.satisfied)
    for number, attributes in enumerate(messages):
        due = sorted(id_ for id_, filters in held.items() if satisfies(attributes, filters))
        assert got.get(number, []) == due, (attributes, set(due) ^ set(got.get(number, [])))
        assert not any(satisfies(attributes, asked[id_]) for id_ in refused), "refused, and yet it matches"
    return len(messages) * len(held)


def rounds(folder: Path, seed: int, seconds: float, least: int) -> int:
    """Of a reader at the writer's router, and of one behind a link."""
    chance, decisions, done = Chance(f"meaning/{seed}"), 0, 0
    with Network(folder, "ab", ["ab"]) as net:
        net.until_linked()
        readers = [Stranger(*net[name].clients, f"at {name}") for name in "ab"]
        writer, held, ends_s = Stranger(*net["a"].clients, "writer"), ({}, {}), time.monotonic() + seconds
        try:
            while done < least or time.monotonic() < ends_s:
                decisions += one_round(chance, readers[done % 2], writer, held[done % 2], wait=done % 2)
                done += 1
        except AssertionError:
            print(f"seed {seed}, round {done}")
            raise
        finally:
            for each in (*readers, writer):
                each.close()
        assert net["a"].tracebacks == net["b"].tracebacks == 0
    print(f"{done} rounds, {decisions} decisions, none wrong")
    return decisions


@pytest.mark.slow
def test_what_is_delivered_is_what_the_pages_say(tmp_path):
    assert rounds(tmp_path, seed=1, seconds=0, least=12) > 10_000


@pytest.mark.long
def test_what_is_delivered_is_what_the_pages_say_for_two_minutes(tmp_path):
    assert rounds(tmp_path, seed=time.time_ns(), seconds=120, least=100) > 500_000
