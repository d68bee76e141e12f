"""What a consumer says of messages over TCP, with `await` and without, of one and of many; messages by the batch."""

from __future__ import annotations

from pathlib import Path

import pytest

import tamis
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import PATIENCE_S, QUIET_S, client, publish, received, restarted, router

pytestmark = pytest.mark.slow


def waiting(items: list[tamis.StoredMessage | tamis.Gap]) -> list[tamis.StoredMessage]:
    assert all(isinstance(item, tamis.StoredMessage) for item in items), items
    return [item for item in items if isinstance(item, tamis.StoredMessage)]


async def test_verbs_take_effect_without_await_and_wait_for_the_disk_with_it(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "maker") as maker:
            maker.durable("jobs", "n >= 0", dead_letter="dead")
            maker.durable("dead", "never = true")
        publish(one, range(8))
        async with tamis.connect(one.address, name="worker") as worker, worker.consume("jobs") as work:
            first, second, third, fourth, *others = waiting(await work.fetch(8, PATIENCE_S))
            first.ack()
            second.reject("nobody can read it")
            third.extend()
            fourth.nack(delay_s=0.001)
            work.ack_all(others[:2])
            again = waiting(await work.fetch(1, PATIENCE_S))[0]
            assert (again["n"], again.deliveries) == (3, 2)
            await again.ack()
            await third.ack()
            await others[2].reject()
        restarted(one)
        async with tamis.connect(one.address, name="worker", patience_s=PATIENCE_S) as worker:
            async with worker.consume("jobs") as work, worker.consume("dead") as dead:
                assert [each["n"] for each in waiting(await work.fetch(8, QUIET_S))] == [7]
                assert [each["n"] for each in waiting(await dead.fetch(2, PATIENCE_S))] == [1, 6]


def test_a_batch_is_what_is_there_in_time(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        take_in_batches(one)
        restarted(one)
        with client(one, "worker") as worker, worker.consume("jobs") as work:
            assert work.fetch(1, QUIET_S) == []


def take_in_batches(one: BlockingRouter) -> None:
    with client(one, "worker") as worker:
        worker.durable("jobs", "n >= 0")
        publish(one, range(20))
        work = worker.consume("jobs", credit=10)
        assert [each["n"] for each in work.fetch(3)] == [0, 1, 2]  # type: ignore[index]
        batch = work.fetch(100, PATIENCE_S)  # as many as the router may send ahead
        assert [each["n"] for each in batch] == list(range(3, 13))  # type: ignore[index]
        assert [each["n"] for each in work.fetch(8, QUIET_S)] == list(range(13, 20))  # type: ignore[index]
        assert work.fetch(1, 0.01) == []
        with pytest.raises(tamis.Refused, match="most is a whole number from 1"):
            work.fetch(0)
        work.cancel()
        with pytest.raises(tamis.ClientClosed, match="the consumer was cancelled"):
            work.fetch(1, PATIENCE_S)
        with worker.consume("jobs") as other:
            other.ack_all([received(other) for _ in range(20)], confirm=True)
