"""Every frame as bytes and back: one table from kind to body.

Law: a decoded frame encodes to bytes that decode to an equal frame; a value that cannot be decoded cannot be encoded. A
frame that is not a data frame is a prefix and one msgpack array, with nothing behind it.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.wire import (
    client_bodies,
    custody_bodies,
    durable_bodies,
    edge_bodies,
    home_bodies,
    parts,
    remote_bodies,
    report_bodies,
    routing_bodies,
    session_bodies,
)
from tamis.protocol.wire.body_frames import decode_body, encode_body, frame_of
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame, decode_data, encode_data
from tamis.protocol.wire.kinds import KINDS, FrameKind
from tamis.protocol.wire.prefix import PREFIX_BYTES, read_prefix

Body = (
    session_bodies.Hello
    | session_bodies.Welcome
    | session_bodies.Auth
    | session_bodies.Authenticated
    | session_bodies.Error
    | session_bodies.Ping
    | session_bodies.Pong
    | session_bodies.Drain
    | session_bodies.GoAway
    | client_bodies.Subscribe
    | client_bodies.Unsubscribe
    | client_bodies.Ack
    | client_bodies.Credit
    | client_bodies.Lost
    | durable_bodies.CreateDurable
    | durable_bodies.Consume
    | durable_bodies.CancelConsume
    | durable_bodies.RemoveDurable
    | durable_bodies.Replay
    | durable_bodies.ReplayEnd
    | durable_bodies.ListDurables
    | durable_bodies.DurablesListed
    | durable_bodies.Get
    | report_bodies.TraceRecord
    | report_bodies.DryRunReport
    | routing_bodies.LinkState
    | parts.AdvertisementPart
    | parts.RequestPart
    | parts.ReplyPart
    | parts.SpacePart
    | parts.EdgePart
    | parts.DurablesPart
    | home_bodies.DurablesHeld
    | custody_bodies.CustodyBody
    | remote_bodies.RemoteHello
    | remote_bodies.RemotePiece
    | edge_bodies.EdgeHeld
    | edge_bodies.EdgeRequest
    | routing_bodies.Held
    | routing_bodies.EpochRefused
)
Frame = DataFrame | Body

BODY_OF: Final[dict[FrameKind, type[Body]]] = {
    FrameKind.HELLO: session_bodies.Hello,
    FrameKind.WELCOME: session_bodies.Welcome,
    FrameKind.AUTH: session_bodies.Auth,
    FrameKind.AUTHENTICATED: session_bodies.Authenticated,
    FrameKind.ERROR: session_bodies.Error,
    FrameKind.PING: session_bodies.Ping,
    FrameKind.PONG: session_bodies.Pong,
    FrameKind.DRAIN: session_bodies.Drain,
    FrameKind.GO_AWAY: session_bodies.GoAway,
    FrameKind.SUBSCRIBE: client_bodies.Subscribe,
    FrameKind.UNSUBSCRIBE: client_bodies.Unsubscribe,
    FrameKind.ACK: client_bodies.Ack,
    FrameKind.CREDIT: client_bodies.Credit,
    FrameKind.LOST: client_bodies.Lost,
    FrameKind.CREATE_DURABLE: durable_bodies.CreateDurable,
    FrameKind.CONSUME: durable_bodies.Consume,
    FrameKind.CANCEL_CONSUME: durable_bodies.CancelConsume,
    FrameKind.REMOVE_DURABLE: durable_bodies.RemoveDurable,
    FrameKind.REPLAY: durable_bodies.Replay,
    FrameKind.REPLAY_END: durable_bodies.ReplayEnd,
    FrameKind.LIST_DURABLES: durable_bodies.ListDurables,
    FrameKind.DURABLES_LISTED: durable_bodies.DurablesListed,
    FrameKind.GET: durable_bodies.Get,
    FrameKind.TRACE_RECORD: report_bodies.TraceRecord,
    FrameKind.DRY_RUN_REPORT: report_bodies.DryRunReport,
    FrameKind.LSA: routing_bodies.LinkState,
    FrameKind.RA: parts.AdvertisementPart,
    FrameKind.SR: parts.RequestPart,
    FrameKind.UR: parts.ReplyPart,
    FrameKind.HELD: routing_bodies.Held,
    FrameKind.EPOCH_REFUSED: routing_bodies.EpochRefused,
    FrameKind.EA: parts.EdgePart,
    FrameKind.EH: edge_bodies.EdgeHeld,
    FrameKind.ER: edge_bodies.EdgeRequest,
    FrameKind.SPACE: parts.SpacePart,
    FrameKind.DURABLES: parts.DurablesPart,
    FrameKind.DURABLES_HELD: home_bodies.DurablesHeld,
    FrameKind.CUSTODY_ACK: custody_bodies.CustodyAck,
    FrameKind.CUSTODY_ASK: custody_bodies.CustodyAsk,
    FrameKind.GAP: custody_bodies.ChainGap,
    FrameKind.FINISHED: custody_bodies.CopyFinished,
    FrameKind.REMOTE_HELLO: remote_bodies.RemoteHello,
    FrameKind.REMOTE: remote_bodies.RemotePiece,
}
_KIND_OF: Final = {body: kind for kind, body in BODY_OF.items()}


def kind_of(frame: Frame) -> FrameKind:
    return frame.kind if isinstance(frame, DataFrame) else _KIND_OF[type(frame)]


def encode(frame: Frame, frame_bytes_max: int = FRAME_BYTES_MAX) -> bytes:
    """Return the frame's bytes; Refused if they could not be decoded or exceed `frame_bytes_max`."""
    data = encode_data(frame) if isinstance(frame, DataFrame) else _encode_body(frame)
    if len(data) > frame_bytes_max:
        raise Refused(f"a frame has at most {frame_bytes_max} bytes here, this one {len(data)}")
    return data


def decode(frame: bytes) -> Frame:
    """Return the frame in `frame`, which FrameReader has extracted from the stream; FrameError if it is invalid."""
    prefix = read_prefix(frame)
    if prefix.kind not in KINDS:
        raise FrameError(ErrorCode.UNKNOWN_KIND, f"no frame kind 0x{prefix.kind:02x}")
    kind = FrameKind(prefix.kind)
    if kind.is_data:
        return decode_data(frame)
    if prefix.flags or prefix.hop_limit:
        raise FrameError(ErrorCode.RESERVED, "flags and hop limit are 0 in a frame that is not a data frame")
    body = decode_body(kind, BODY_OF[kind], frame)
    if isinstance(body, routing_bodies.LinkState):
        body.keep(frame[PREFIX_BYTES:])
    return body


def _encode_body(body: Body) -> bytes:
    kind = _KIND_OF[type(body)]
    if isinstance(body, routing_bodies.LinkState) and body.raw:
        return frame_of(kind, body.raw)
    return encode_body(kind, body)
