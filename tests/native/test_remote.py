"""Remote sessions in one switch: what a near end passes to its client and to the home, and what others may do to it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tamis.native import EventType
from tamis.native.guards import NO_GUARD, Border
from tamis.native.remote import SESSION_BYTES, SwitchRemotes
from tamis.protocol.limits import REMOTE_PIECE_BYTES_MAX
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Range
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.remote_bodies import ENDS, FROM_FAR, RemotePiece
from tests.native.test_directed import DirectingRouter
from tests.native.test_others import EAST, FAR, LINK, ME, WEST, message

SESSION, CONSUMER, WINDOW, SILENT_MS = 5, 3, 262_144, 10_000
HELLO = bytes([12, 0, 0, 0, 0x18, 0, 0, 0]) + bytes(4)


def remote(piece: bytes = b"", at: int = 0, taken: int = 0, **fields: int) -> RemotePiece:
    """From the home of a session of Alice."""
    usual = RemotePiece(9, ME, FAR, SESSION, at, taken, WINDOW, FROM_FAR, piece)
    return replace(usual, **fields)


def deliver(consumer: int, n: int) -> bytes:
    frame = replace(message(counter=n), kind=FrameKind.DELIVER, hop_limit=0, transit=message().transit)
    return encode_data(replace(frame, extensions={ExtensionType.SATISFIED: (consumer,)}))


class RemoteRouter(DirectingRouter):
    def __init__(self) -> None:
        super().__init__()
        self.remotes = SwitchRemotes(self.switch)
        assert self.remotes.begin(self.alice, FAR, SESSION)
        assert self.remotes.attach(SESSION, CONSUMER)
        assert self.remotes.send(SESSION, HELLO)
        (self.first,) = self.pieces(self.east)

    def hear(self, said: RemotePiece | bytes, link: int | None = None) -> list[tuple[int, bytes]]:
        """What Python hears of a frame from the east."""
        data = said if isinstance(said, bytes) else encode(said)
        events = self.switch.feed(link if link is not None else self.east, data)
        return [(each.type, each.frame) for each in events if each.type not in (EventType.OUTPUT, EventType.CLOSED)]

    def pieces(self, link: int) -> list[RemotePiece]:
        return [each for each in self.sent(link) if isinstance(each, RemotePiece)]

    def got(self) -> list[int]:
        """The numbers of the messages that Alice got."""
        return [each.message.id.counter for each in self.sent(self.alice) if isinstance(each, DataFrame)]


@pytest.fixture
def router():
    made = RemoteRouter()
    yield made
    made.close()


def test_it_goes_on_to_the_next_hop_with_one_hop_less(router):
    said = remote(b"abc", receiver=FAR, sender=WEST)
    assert router.hear(said, router.west) == []
    assert router.pieces(router.east) == [replace(said, hops=8)]
    for other in (replace(said, hops=0), replace(said, receiver=99), replace(said, receiver=WEST)):
        assert router.hear(other, router.west) == []
    assert router.pieces(router.east) == router.pieces(router.west) == []
    assert router.dropped("directed") == 3


def test_a_session_begins_with_one_piece_and_goes_on_when_that_is_taken(router):
    assert (router.first.piece, router.first.sender, router.first.receiver) == (HELLO, ME, FAR)
    assert router.remotes.send(SESSION, HELLO)
    assert router.pieces(router.east) == []
    router.hear(remote(taken=len(HELLO)))
    (second,) = router.pieces(router.east)
    assert (second.at, second.piece) == (len(HELLO), HELLO)


def test_deliveries_to_its_consumers_pass_once_and_in_order_however_pieces_come(router):
    whole = b"".join(deliver(CONSUMER, n) for n in range(1, 4)) + deliver(CONSUMER + 1, 9) + encode(Lost(1, 1, 1))
    parts = [(at, whole[at : at + 50]) for at in range(0, len(whole), 50)]
    router.hear(remote(parts[1][1], parts[1][0]))
    assert router.got() == []
    for at, part in [*parts[:2], *parts]:
        assert router.hear(remote(part, at)) == []
    sent = router.sent(router.alice)
    assert [each.message.id.counter for each in sent if isinstance(each, DataFrame)] == [1, 2, 3]
    assert Lost(1, 1, 1) in sent


def test_answers_of_the_home_are_for_python(router):
    answer = encode(Ack(AckOf.CONSUME, 1, (Range(CONSUMER, CONSUMER),)))
    assert router.hear(remote(answer)) == [(EventType.REMOTE_SAID, SESSION.to_bytes(SESSION_BYTES, "little") + answer)]


def test_acknowledgements_of_its_consumers_go_to_the_home_and_others_do_not(router):
    router.hear(remote(taken=len(HELLO)))
    ack = encode(Ack(AckOf.DELIVER, 0, (Range(4, 5),), subscription=CONSUMER))
    assert router.hear(ack, router.alice) == []
    (piece,) = router.pieces(router.east)
    assert piece.piece == ack
    other = encode(Ack(AckOf.DELIVER, 0, (Range(4, 5),), subscription=CONSUMER + 1))
    assert router.hear(other, router.alice) == [(EventType.FRAME, other)]


def test_what_is_not_taken_is_sent_again_and_silence_ends_the_session(router):
    for _ in range(3):
        router.switch.advance(5_000)
        router.switch.tick()
    assert router.first in [replace(each, taken=0) for each in router.pieces(router.east)]
    assert router.remotes.figures().near_ends == 0
    assert not router.remotes.send(SESSION, HELLO)


def test_at_a_full_window_nothing_more_is_taken_from_the_client(router):
    assert router.remotes.send(SESSION, bytes(WINDOW - len(HELLO)))
    assert not router.remotes.send(SESSION, b"x")
    router.hear(remote(taken=len(HELLO), room=REMOTE_PIECE_BYTES_MAX))
    assert sum(len(each.piece) for each in router.pieces(router.east)) == REMOTE_PIECE_BYTES_MAX


def test_more_than_the_room_it_was_given_is_not_taken_from_a_home(router):
    frame = deliver(CONSUMER, 1)
    at = 0
    for _ in range(WINDOW // REMOTE_PIECE_BYTES_MAX):
        router.hear(remote((frame * 400)[: REMOTE_PIECE_BYTES_MAX // len(frame) * len(frame)], at))
        at += REMOTE_PIECE_BYTES_MAX // len(frame) * len(frame)
    before = router.remotes.figures().dropped
    router.hear(remote(bytes(REMOTE_PIECE_BYTES_MAX), WINDOW))
    assert router.remotes.figures().dropped == before + 1


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(remote(taken=1_000), id="took what was not sent"),
        pytest.param(remote(bytes(8)), id="a frame without bytes"),
        pytest.param(remote(b"\xff\xff\xff\xff" + bytes(4)), id="a frame of 4 GB"),
        pytest.param(remote(marks=FROM_FAR | ENDS), id="the end"),
    ],
)
def test_what_is_false_ends_the_session_alone(router, said):
    assert router.remotes.begin(router.alice, FAR, SESSION + 1)
    number = SESSION.to_bytes(SESSION_BYTES, "little")
    assert router.hear(said) == [(EventType.REMOTE_ENDED, number)]
    assert router.remotes.figures().near_ends == 1
    assert router.hear(remote(session=SESSION + 1)) == []


def test_a_stranger_is_told_that_there_is_no_session(router):
    for said in (remote(session=99), remote(b"x", sender=EAST), remote(b"x", at=7, marks=0)):
        assert router.hear(said) == []
    told = router.pieces(router.east)
    assert [(each.session, each.marks) for each in told] == [
        (99, ENDS),
        (SESSION, ENDS),
        (SESSION, ENDS | FROM_FAR),
    ]
    assert router.remotes.figures().near_ends == 1


def test_no_session_crosses_a_border(router):
    router.switch.border(router.east, Border(NO_GUARD, NO_GUARD, frozenset({EAST, FAR})))
    assert router.hear(remote(deliver(CONSUMER, 1))) == []
    assert router.hear(remote(b"abc", receiver=FAR, sender=WEST), router.west) == []
    assert router.got() == []
    assert router.pieces(router.east) == []
    assert router.dropped("not_allowed") == 1


def test_it_fills_half_of_the_queue_of_a_link(router):
    router.switch.end(router.east, now=True)
    said = remote(bytes(1_000), receiver=FAR, sender=WEST)
    router.east = router.opened(replace(LINK, number=EAST, version=3, queue_bytes_max=8 * len(encode(said))))
    for _ in range(9):
        router.hear(said, router.west)
    assert len(router.pieces(router.east)) == 4


def test_a_client_that_leaves_ends_its_session_at_the_home(router):
    router.switch.end(router.alice, now=True)
    assert router.pieces(router.east)[-1].marks == ENDS
    assert router.remotes.figures().near_ends == 0


def test_another_form_ends_the_link(router):
    wrong = encode(remote()).replace(b"\x99", b"\x98", 1)
    events = router.switch.feed(router.east, wrong)
    assert [each.code for each in events if each.type == EventType.FAULT] == [ErrorCode.MALFORMED]


@pytest.mark.parametrize("seed", range(20))
def test_hostile_frames_hurt_nobody_else(seed):
    """Random fields and random pieces in the name of the home; a session with another router goes on beside them."""
    rng = random.Random(seed)
    router = RemoteRouter()
    honest, number, at = [], SESSION + 1, 0
    assert router.remotes.begin(router.alice, WEST, number)
    assert router.remotes.attach(number, 8)
    values = (0, 1, len(HELLO), 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)
    for n in range(1, 200):
        said = remote(
            rng.choice((rng.randbytes(rng.randrange(200)), deliver(CONSUMER, n), deliver(8, n))),
            at=rng.choice(values),
            taken=rng.choice(values),
            room=rng.choice(values[:5]),
            marks=rng.randrange(8),
            session=rng.choice((SESSION, number, 99)),
        )
        router.hear(said)
        frame = deliver(8, 1_000 + n)
        router.hear(remote(frame, at, session=number, sender=WEST), router.west)
        at += len(frame)
        honest.append(1_000 + n)
    assert [n for n in router.got() if n > 1_000] == honest
    assert router.sent(router.east) is not None
    router.close()
