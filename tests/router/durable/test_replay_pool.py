"""The memory of all replays: steps take it in turn, and give all of it back however they end."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from tamis import DurableRefused, Gap
from tamis.router.durable.replay_pool import STEP_ROOM, ReplayPool
from tests.router.durable.test_kill import client, router

MIB = 1 << 20


def test_steps_are_served_in_turn_and_never_more_than_have_room():
    async def run() -> None:
        pool, order, inside = ReplayPool(64 * MIB), [], 0

        async def step(number: int) -> None:
            nonlocal inside
            async with pool.step():
                order.append(number)
                inside += 1
                assert inside * STEP_ROOM <= pool.bytes <= 32 * MIB
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(step(number) for number in range(50)))
        assert order == list(range(50))
        assert pool.bytes == 0

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(20))
def test_steps_that_are_cancelled_give_back_what_they_had(seed):
    print(f"seed {seed}")

    async def run() -> None:
        random, pool = Random(seed), ReplayPool(64 * MIB)

        async def step(turns: int) -> None:
            async with pool.step():
                for _ in range(turns):
                    await asyncio.sleep(0)

        tasks = [asyncio.create_task(step(random.randrange(4))) for _ in range(40)]
        for _ in range(30):
            random.choice(tasks).cancel()
            if random.random() < 0.5:
                await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert pool.bytes == 0
        async with asyncio.timeout(5), pool.step():
            assert pool.bytes == STEP_ROOM

    asyncio.run(run())


@pytest.mark.slow
def test_filters_of_replays_have_a_bound_for_a_client_and_room_again_once_they_end(tmp_path):
    keys = "durable: {bytes: 268435456, segment_bytes: 1048576, replays_per_client: 1000, replay_bytes: 33554432}"
    large = " or ".join(f's = "{"x" * 900}{n}"' for n in range(50)) + " or n >= 0"
    with router(tmp_path, keys) as one, client(one, "reader") as reader, client(one, "other") as other:
        reader.durable("numbers", "n >= 0")
        for n in range(2):
            reader.publish({"n": n}, confirm="stored")
        replays = [reader.replay(large, credit=1).start()]
        with pytest.raises(
            DurableRefused, match=r"the filters of a client's replays may use at most 2,097,152 bytes in total"
        ):
            replays += [reader.replay(large, credit=1).start() for _ in range(300)]
        with other.replay("n >= 0") as messages:
            assert [message["n"] for message in messages if not isinstance(message, Gap)] == [0, 1]
        for each in replays:
            each.cancel()
        with reader.replay(large, credit=1) as messages:
            assert [message["n"] for message in messages if not isinstance(message, Gap)] == [0, 1]
