"""Why a control body was sent, as its record says."""

from __future__ import annotations

import pytest

from tamis.protocol.limits import DIGEST_BYTES
from tamis.protocol.wire.numbers import NO_DIGEST, stable_number
from tamis.protocol.wire.routing_bodies import (
    Body,
    Entry,
    LinkState,
    ReceiverAdvertisement,
    Scope,
    SenderRequest,
    UpdateReply,
)
from tamis.router.records.control import said_of

A, B = stable_number("a"), stable_number("b")
STATE = LinkState("a", 1, 1, ())
WANTS = ReceiverAdvertisement(A, 1, 1, True, 0, (), (), NO_DIGEST, 0, False)
LACKS = SenderRequest(A, 1, 1, Scope.NEIGHBOUR, b"", (), ())
COMPARES = SenderRequest(A, 1, 1, Scope.NEIGHBOUR, bytes(DIGEST_BYTES), (), ())


@pytest.mark.parametrize(
    ("body", "sender", "cause"),
    [
        (STATE, A, "link"),
        (STATE, B, "flood"),
        (WANTS, A, "change"),
        (WANTS, B, "flood"),
        (LACKS, A, "repair"),
        (COMPARES, A, "age"),
    ],
)
def test_the_cause_is_what_the_body_is_and_who_sent_it(body: Body, sender: int, cause: str) -> None:
    said = said_of(body, sender, {A: "a", B: "b"}.__getitem__)
    assert (said["cause"], said["issuer"], said["issuer_epoch"], said["seq"]) == (cause, "a", 1, 1)


@pytest.mark.parametrize(("total", "is_full"), [(0, True), (3, False)])
def test_a_piece_does_not_state_all_filters(total: int, is_full: bool) -> None:
    reply = UpdateReply(A, 1, 1, (Entry(B, 1, 1, NO_DIGEST, (), 0, total),))
    assert said_of(reply, A, {A: "a", B: "b"}.__getitem__)["full"] is is_full
