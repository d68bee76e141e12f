"""The bench of rules feeds what it says: each message passes the door, and one class asks its guard once."""

from __future__ import annotations

from tamis.bench.router import access
from tamis.bench.router.access import AtTheDoor
from tamis.bench.router.switches import BLOCK_MESSAGES
from tamis.bench.router.transit import fed


def test_every_message_passes_the_door() -> None:
    router = AtTheDoor(has_rules=True)
    assert fed(router, BLOCK_MESSAGES) > 0
    assert router.passed == BLOCK_MESSAGES


def test_a_class_of_receivers_asks_its_guard_once_a_message(monkeypatch) -> None:
    monkeypatch.setattr(access, "RECEIVERS", 20)
    assert access._handed(has_rules=True) == 1


async def test_every_subscription_is_accepted(monkeypatch) -> None:
    monkeypatch.setattr(access, "FRAMES", 20)
    for rule in access.RULES.values():
        assert min(await access.subscribed_us(rule)) > 0
