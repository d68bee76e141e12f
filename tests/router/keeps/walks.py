"""Random walks through what can happen to keeps, from a seed: what the planted bugs are looked for with."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tamis.protocol.wire.client_bodies import AckVerdict, Range
from tamis.protocol.wire.keep_bodies import StartAt
from tests.router.keeps.world import NAMES, World

LAST = 2**64 - 1


def step(world: World, chance: Random) -> None:
    """Let one thing happen."""
    name, members = chance.choice((*NAMES, "ordered", "ordered")), sorted(world.of)
    member = chance.choice(members) if members else 0
    things: tuple[tuple[int, Callable[[], object]], ...] = (
        (30, lambda: world.publish(chance.choice("abc"), chance.randrange(2), origin=chance.choice((1, 2)))),
        (20, lambda: world.commit(chance.randrange(1, 6))),
        (20, lambda: member and acknowledge(world, chance, member)),
        (4, lambda: world.keep(name, chance.choice((StartAt.NEW, StartAt.EARLIEST)))),
        (
            8,
            lambda: (
                len(members) < 6
                and world.attach(name, chance.randrange(9), latest=chance.random() < 0.3, after=skipped(world))
            ),
        ),
        (3, lambda: world.detach(member, is_lost=chance.random() < 0.3)),
        (3, lambda: len(members) < 6 and lose_consumers(world, chance)),
        (8, lambda: world.add_credit(member, chance.randrange(1, 5))),
        (12, lambda: pass_time(world, chance)),
        (2, world.crash),
        (1, lambda: world.forget(name)),
        (4, lambda: publish_again(world, chance)),
    )
    chance.choices([thing for _, thing in things], weights=[weight for weight, _ in things])[0]()


def skipped(world: World) -> int:
    """Return behind what an attachment begins: mostly nothing, or something that was given, or all."""
    given = sorted(position for got in world.got.values() for position in got)
    sent = len(world.judge.sent)
    return (given[len(given) // 2] if given and sent % 2 else LAST) if sent % 7 == 3 else 0


def lose_consumers(world: World, chance: Random) -> None:
    """Let consumers of a keep that bounds attempts go away, one after the other, with what they have. Each is an
    attempt that failed with the first of it."""
    name, credit = chance.choice(("plain", "small")), chance.randrange(1, 4)
    for _ in range(chance.randrange(1, 5)):
        world.detach(world.attach(name, credit), is_lost=True)


def pass_time(world: World, chance: Random) -> None:
    steady = chance.choice((0, 500, 9_999, 20_000, 20_000, 29_999, 31_000))
    world.pass_time(steady, chance.choice((steady, steady, 3_600_000, -3_600_000)))


def publish_again(world: World, chance: Random) -> None:
    if world.judge.sent:
        world.publish("", 0, again=chance.choice(sorted(world.judge.sent)))


def acknowledge(world: World, chance: Random, member: int) -> None:
    """Acknowledge on time, late, twice, up to a number, or what another one has."""
    others = sorted(position for got in world.got.values() for position in got)
    mine = sorted(world.got[member])
    verdict = chance.choices(list(AckVerdict), weights=(4, 3, 3, 3))[0]
    if not mine or chance.random() < 0.1:
        position = chance.choice(others) if others else 1
        world.ack(member, [position], verdict)
    elif chance.random() < 0.3:
        last = chance.choice([*mine, LAST])
        world.ack_ranges(member, (Range(0, last),), [p for p in mine if p <= last], verdict)
    else:
        delay_ms = chance.choice((0, 2_000))
        world.ack(member, chance.sample(mine, k=min(len(mine), chance.randrange(1, 4))), verdict, delay_ms=delay_ms)


def walk(world: World, seed: int, steps: int = 120) -> None:
    chance = Random(seed)
    for name in NAMES:
        if chance.random() < 0.7:
            world.keep(name)
    world.commit(10)
    for _ in range(steps):
        step(world, chance)
    world.settle()
