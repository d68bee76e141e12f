"""A publisher that asks for it is told if nobody wants its message (TELL_UNWANTED)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tamis.native import Step
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.header import Flags, Transit
from tamis.protocol.wire.kinds import FrameKind
from tests.native.test_others import ALICE, EAST, WEST, Router, packed

PLAIN = Flags(0)
ASKS = {ExtensionType.TELL_UNWANTED: b""}


@pytest.fixture
def router() -> Iterator[Router]:
    made = Router()
    made.switch.install(EAST, {1: packed("x = 2")})
    made.subscribe(1, "x = 3")
    yield made
    made.close()


def told(router: Router, counter: int, x: int, flags: Flags = PLAIN, **changes: object) -> list[object]:
    """What Alice hears when she publishes `x`."""
    router.sent(router.alice)
    body = Message({"x": x}, b"", MessageId(ALICE, counter))
    frame: dict[str, object] = {"extensions": ASKS, "kind": FrameKind.PUBLISH} | changes
    router.feed(router.alice, DataFrame(message=body, flags=flags, **frame))  # type: ignore[arg-type]
    return [body for body in router.sent(router.alice) if isinstance(body, Ack)]


def unwanted(counter: int) -> list[Ack]:
    refusal = Refusal(counter, RefusalCode.UNWANTED, "no subscription matches the message")
    return [Ack(AckOf.PUBLISH, 0, (), (refusal,))]


@pytest.mark.parametrize("flags", [Flags(0), Flags.CONFIRM])
def test_that_nobody_wants_it_is_told_once(router: Router, flags: Flags) -> None:
    assert told(router, 1, 1, flags) == unwanted(1)
    assert router.dropped("unmatched") == 1


def test_who_does_not_ask_is_not_told(router: Router) -> None:
    assert told(router, 1, 1, extensions={}) == []
    assert told(router, 2, 1, Flags.CONFIRM, extensions={}) == [Ack(AckOf.PUBLISH, 0, (Range(2, 2),))]


def test_what_a_client_or_another_router_wants_is_not_refused(router: Router) -> None:
    for counter, x in ((1, 2), (3, 3)):
        assert told(router, counter, x) == []
        assert told(router, counter + 1, x, Flags.CONFIRM) == [
            Ack(AckOf.PUBLISH, 0, (Range(counter + 1, counter + 1),))
        ]


@pytest.mark.parametrize("step", [Step.WAIT, Step.REFUSE])
def test_a_router_that_is_not_in_step_says_nothing(router: Router, step: Step) -> None:
    router.switch.step(step)
    assert told(router, 1, 1) == []
    router.switch.step(Step.IN)
    assert told(router, 2, 1) == unwanted(2)


def test_a_dry_run_and_a_message_of_another_router_are_answered_by_nobody(router: Router) -> None:
    extensions = ASKS | {ExtensionType.TRACE: 7}
    assert told(router, 1, 1, Flags.TRACED, kind=FrameKind.DRY_RUN, extensions=extensions) == []
    body = Message({"x": 1}, b"", MessageId(77, 1))
    router.sent(router.west)
    router.feed(
        router.west, DataFrame(FrameKind.PUBLISH, body, hop_limit=5, transit=Transit(WEST, 4, 1), extensions=ASKS)
    )
    assert [each for each in router.sent(router.west) if isinstance(each, Ack)] == []


def test_it_is_carried_to_who_wants_the_message(router: Router) -> None:
    router.sent(router.east)
    told(router, 1, 2)
    [frame] = [each for each in router.sent(router.east) if isinstance(each, DataFrame)]
    assert frame.extensions == ASKS
