"""DELIVER frames for the tests of the codecs."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tamis.protocol.messages import Message, MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import DeliveryCount, ExtensionType
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tests.strategies import wide_names, wide_values

ENTERED = Transit(1, 2, 3)


def deliver(
    attributes: Mapping[str, Value],
    payload: bytes = b"",
    id_: tuple[int, int] = (5, 6),
    time_ns: int = 0,
    ids: tuple[int, ...] = (1,),
    stored: tuple[int, DeliveryCount] | None = None,
) -> bytes:
    """Return a DELIVER; `stored`: its position and DELIVERIES."""
    extensions: dict[int, object] = {ExtensionType.SATISFIED: ids} if ids else {}
    if stored is not None:
        extensions |= {ExtensionType.LOG_POSITION: stored[0], ExtensionType.DELIVERIES: stored[1]}
    message = Message(attributes, payload, MessageId(*id_))
    return encode_data(DataFrame(FrameKind.DELIVER, message, 0, 8, ENTERED, time_ns, extensions))  # type: ignore[arg-type]


def strange_text() -> SearchStrategy[str]:
    """Texts with what is escaped, and what looks so."""
    return st.lists(
        st.sampled_from(["<", "/", "!", "\u2028", "\u2029", "\u2027", "é", '"', "\\", "\n", "\0", "\x7f", "a" * 15])
    ).map("".join)


def deliveries() -> SearchStrategy[bytes]:
    u64 = st.integers(1, 2**64 - 1)
    attributes = st.dictionaries(
        wide_names() | strange_text().filter(bool), wide_values() | strange_text(), max_size=18
    )
    replayed = st.builds(DeliveryCount, st.just(0), st.just(True), st.booleans(), st.booleans())
    counted = st.builds(DeliveryCount, st.integers(1, 2**32 - 1), st.just(False), st.booleans(), st.booleans())
    return st.builds(
        deliver,
        attributes,
        st.binary(max_size=40) | strange_text().map(str.encode),
        st.tuples(u64, u64),
        st.just(0) | st.integers(1, 2**64 - 1),
        st.lists(st.integers(0, 2**32 - 1), max_size=4, unique=True).map(tuple),
        st.none() | st.tuples(u64, replayed | counted),
    )


def random_run(random: Random, count: int) -> bytes:
    """Return deliveries of all sizes."""
    run = b""
    for number in range(1, count + 1):
        attributes: dict[str, Value] = {
            f"name{i}": random.choice((i, i / 7, f"v{i}" * i, True)) for i in range(random.randrange(20))
        }
        payload = random.choice(
            (
                b"",
                b"text" * random.randrange(200),
                random.randbytes(random.randrange(200)),
                b"<\n" * random.randrange(3_000),
            )
        )
        run += deliver(attributes, payload, (7, number), random.getrandbits(60), (1, 2, 3)[: random.randint(1, 3)])
    return run
