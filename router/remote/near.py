"""The near ends of remote sessions: clients of this router that consume or read durable subscriptions of others.

    CONSUME ──> asked ──answer──> attached ──cut──> the client is told to consume again ──> CONSUME
                  │ cut, or no answer: refused; of a consumer that was attached before: waits ──> asked
                                attached ──its home is out of reach, and a copy is not──> the client is told, too

    GET ──> waits for the one before ──> asked ──answer, no answer, cut──> the client is told

Law: a request is answered once. A consumer that was attached waits for its home as long as its client does; a new one
is refused, with the home's name, if the home is out of reach or silent. What a home says that does not decode ends the
session; what is for none of its consumers and requests is dropped. A client takes DRAINING as said of its own router,
so a home that drains is said to be away. Copies are removed one after another, once all
homes are in reach, and the client gets the last answer or the first refusal: a home without its copy makes it again.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from tamis.native.remote import SwitchRemotes
from tamis.native.results import Gone
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import CancelConsume, Consume, Get, ListDurables, RemoveDurable, ReplayEnd
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.home_bodies import TAKES_READS, TAKES_REMOTE, StatedDurable
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.remote_bodies import RemoteHello
from tamis.protocol.wire.versions import PROTOCOL_VERSION
from tamis.router.clients.client import Client
from tamis.router.clients.clients import Clients
from tamis.router.clients.durables import DurableRequester, refused
from tamis.router.durable.allowed import check_allowed
from tamis.router.durable.copies import homes_of
from tamis.router.durable.refusals import RequestRefused
from tamis.router.remote.lists import listed
from tamis.router.remote.naming import Meant, meant
from tamis.router.remote.near_session import READS_MAX, NearSession, Request

ANSWER_S: Final = 5.0
"""How long a home may take to answer a request of a client elsewhere."""
MOVE_S: Final = 1.0
"""How long a home is out of reach before its consumers go on at a copy."""
ConsumerId = tuple[int, int]
"""A connection and the id of a consumer on it."""
_LETS_OUT: Final = (FrameKind.ACK, FrameKind.REPLAY_END)


@dataclass(frozen=True, slots=True)
class _OneStated:
    """The durable subscriptions of which one request is judged."""

    by_name: dict[str, StatedDurable]


class NearEnds:
    """The near ends at one router. `own` returns the names of its durable subscriptions."""

    def __init__(self, clients: Clients, remotes: SwitchRemotes) -> None:
        self._clients, self._remotes = clients, remotes
        self._connections = clients.connections
        self._sessions: dict[int, NearSession] = {}
        self._by_home: defaultdict[int, dict[str, NearSession]] = defaultdict(dict)
        """Connection to home to session."""
        self._again: set[ConsumerId] = set()
        """Consumers that were attached and cut, and may wait for their home."""
        self._waiting: dict[ConsumerId, tuple[Client, Consume]] = {}
        self._removals: dict[tuple[int, int], list[str]] = {}
        """The homes that still have to remove a copy, the next one last, by connection and request."""

    # --- requests of clients ---------------------------------------------------------------------------------------

    def takes(self, client: Client, body: object) -> bool:
        """Return whether a request of a client is for another router, or names this one; it is handled then."""
        if isinstance(body, CancelConsume):
            return self._cancel(client, body)
        if isinstance(body, ListDurables) and body.elsewhere:
            self._list(client, body)
            return True
        if not isinstance(body, Consume | RemoveDurable | Get):
            return False
        try:
            found = self._meant(body.name)
            if found is None:
                return False
            plain = replace(body, name=found.name)
            if isinstance(plain, RemoveDurable) and self._remove_copies(client, plain, found):
                return True
            if not found.home and found.name == body.name:
                return False
            if not found.home:
                self._clients.durables.asked(client, plain)
                return True
            self._judge(client, plain, found)
            self._ask(client, plain, found)
        except RequestRefused as error:
            self._refuse(client, body, error)
        return True

    def _list(self, client: Client, asked: ListDurables) -> None:
        """Answer with the durable subscriptions of the routers of this domain that are the client's; where names are
        unproven, all are."""
        network, domain = self._connections.network, self._connections.settings.domain
        rights, are_proven = client.rights, self._clients.tokens is not None

        def is_shown(router: str, stated: StatedDurable) -> bool:
            if rights is not None:
                is_its = rights.owns(stated.owner)
            else:
                is_its = not are_proven or stated.owner == client.principal
            return is_its and router in domain

        kind, frame = listed(network.homes, is_shown, network.reaches, asked, client.frame_bytes_max)
        self._tell(client, kind, frame)

    def _meant(self, name: str) -> Meant | None:
        settings = self._connections.settings
        own: Collection[str] = self._clients.durables.names
        network = self._connections.network
        return meant(name, settings.id, own, settings.others, network.homes, network.reaches)

    @staticmethod
    def _judge(client: Client, body: Request, found: Meant) -> None:
        """Raise RequestRefused if the rules of access of this router do not allow the request."""
        if client.rights is not None and found.stated is not None:
            check_allowed(client.rights, _OneStated({found.name: found.stated}), body)

    def _ask(self, client: Client, body: Consume | RemoveDurable | Get, found: Meant) -> None:
        what = f"router {found.home} has the durable subscription {found.name!r}"
        takes, serves = (TAKES_READS, "answers reads of") if isinstance(body, Get) else (TAKES_REMOTE, "serves it to")
        if found.stated is not None and not found.stated.flags & takes:
            text = f"{what}, and is of a version that {serves} its own clients alone: connect to {found.home}"
            raise RequestRefused(RefusalCode.DURABLE_ELSEWHERE, text)
        id_ = (client.connection, body.id) if isinstance(body, Consume) else None
        if not self._connections.network.reaches(found.home):
            if id_ in self._again and isinstance(body, Consume):
                self._waiting[client.connection, body.id] = client, replace(body, name=f"{found.name}@{found.home}")
                return
            raise RequestRefused(RefusalCode.HOME_AWAY, f"{what}, and is out of reach now: try again later")
        if isinstance(body, Consume | Get) and self._is_in_use(client, body.id):
            raise RequestRefused(RefusalCode.ID_IN_USE, f"id {body.id} is in use")
        session = self._session(client, found.home)
        if isinstance(body, Get):
            self._read(session, body)
            return
        if isinstance(body, Consume) and not self._remotes.attach(session.number, body.id):
            raise _too_many(session)
        self._send(session, body)

    def _is_in_use(self, client: Client, id_: int) -> bool:
        return any(session.uses(id_) for session in self._by_home.get(client.connection, {}).values())

    def _read(self, session: NearSession, get: Get) -> None:
        if len(session.reads) >= READS_MAX:
            reason = f"{READS_MAX} reads wait for router {session.home} already: try again later"
            raise RequestRefused(RefusalCode.OVERLOADED, reason)
        session.reads.append(get)
        self._read_next(session)

    def _read_next(self, session: NearSession) -> None:
        """Send the next read, unless the one before has no answer yet."""
        while session.reads and not session.is_reading:
            get = session.reads.popleft()
            if self._remotes.attach(session.number, get.id):
                self._send(session, get)
            else:
                self._refuse(session.client, get, _too_many(session))

    def _remove_copies(self, client: Client, body: RemoveDurable, found: Meant) -> bool:
        """Remove the copies of a durable subscription at all its homes; return False if it has one home."""
        network, me = self._connections.network, self._connections.settings.id
        stated = dict(network.homes.everywhere(found.name))
        mine = stated.get(found.home or me)
        homes = [home for home in homes_of(mine) if home in (me, *self._connections.settings.others)] if mine else []
        if len(homes) < 2:
            return False
        self._judge(client, body, found._replace(stated=mine))
        if away := [home for home in homes if home != me and not network.reaches(home)]:
            text = f"{found.name!r} has copies at {' and '.join(homes)}, and {away[0]} is out of reach: remove it later"
            raise RequestRefused(RefusalCode.DURABLE_ELSEWHERE, text)
        having = [home for home in homes if home in stated]
        self._removals[client.connection, body.request] = sorted(having, key=lambda home: home != me)
        self._remove_next(client, body)
        return True

    def _remove_next(self, client: Client, body: RemoveDurable) -> None:
        left = self._removals[client.connection, body.request]
        home = left.pop()
        if not left:
            del self._removals[client.connection, body.request]
        if home == self._connections.settings.id:
            self._clients.durables.asked(client, body)
        else:
            self._send(self._session(client, home), body)

    def _session(self, client: Client, home: str) -> NearSession:
        """Return the session of a client with a home, which is begun if there is none."""
        session = self._by_home[client.connection].get(home)
        if session is not None:
            return session
        number = int.from_bytes(os.urandom(8), "little") >> 1 or 1
        if not self._remotes.begin(client.connection, stable_number(home), number):
            raise RequestRefused(RefusalCode.OVERLOADED, "this router has too many consumers of other routers")
        session = NearSession(number, client, home)
        self._sessions[number] = self._by_home[client.connection][home] = session
        admitted = client.subscriber.admitted if client.subscriber is not None else None
        roles = admitted.roles if admitted is not None else None
        hello = RemoteHello(
            router=self._connections.settings.id,
            name=client.name,
            principal=client.principal,
            version=PROTOCOL_VERSION,
            frame_bytes_max=client.frame_bytes_max,
            has_roles=roles is not None,
            roles=tuple(sorted(roles or ())),
        )
        self._remotes.send(number, encode(hello))
        return session

    def _send(self, session: NearSession, body: Request) -> None:
        session.sends(body)
        if not self._remotes.send(session.number, encode(body)):
            self._end(session)

    def _cancel(self, client: Client, cancel: CancelConsume) -> bool:
        id_ = client.connection, cancel.id
        if self._waiting.pop(id_, None) is not None or (id_ in self._again and not self._of(id_)):
            self._again.discard(id_)
            self._answer(client, AckOf.CANCEL_CONSUME, cancel.request, cancel.id)
            return True
        session = self._of(id_)
        if session is not None:
            self._send(session, cancel)
        return session is not None

    def _of(self, id_: ConsumerId) -> NearSession | None:
        """Return the session of a consumer that is attached, or asks to be."""
        connection, number = id_
        sessions = self._by_home.get(connection, {}).values()
        return next((session for session in sessions if session.consumes(number)), None)

    # --- what a home says ------------------------------------------------------------------------------------------

    def said(self, number: int, kind: int, frame: bytes) -> None:
        """Handle a control frame of a home for the client of session `number`."""
        session = self._sessions.get(number)
        if session is None or kind not in _LETS_OUT:
            return
        try:
            body = decode(frame)
        except FrameError:
            self._end(session)
            return
        if self._is_for_client(session, body):
            self._tell(session.client, FrameKind(kind), frame)
        self._read_next(session)
        self._end_if_idle(session)

    def _is_for_client(self, session: NearSession, body: object) -> bool:
        """Note what a home says of a consumer or a request; return whether it is for the client."""
        if isinstance(body, ReplayEnd) and body.id in session.attached:
            if body.code == RefusalCode.DURABLE_ELSEWHERE:
                self._again.add((session.client.connection, body.id))
            self._detach(session, body.id)
            return True
        return isinstance(body, Ack) and (body.of is AckOf.DELIVER or self._answered(session, body))

    def _answered(self, session: NearSession, ack: Ack) -> bool:
        """Note the answer to a request; return whether it is for the client."""
        asked, client = session.answered(ack), session.client
        refusal = ack.refusals[0] if ack.refusals else None
        is_draining = refusal is not None and refusal.code == RefusalCode.DRAINING
        if isinstance(asked, Consume):
            if refusal is None:
                session.attached[asked.id] = asked.name
            else:
                self._detach(session, asked.id)
                if is_draining:
                    self._cut_one(session, asked)
                    return False
            self._again.discard((client.connection, asked.id))
        elif isinstance(asked, CancelConsume):
            self._detach(session, asked.id)
            self._again.discard((client.connection, asked.id))
        elif isinstance(asked, Get):
            self._detach(session, asked.id)
        elif isinstance(asked, RemoveDurable) and not self._was_removed(client, asked, ack):
            return False
        if is_draining and isinstance(asked, RemoveDurable | Get):
            reason = f"router {session.home} is draining: try again later"
            self._refuse(client, asked, RequestRefused(RefusalCode.HOME_AWAY, reason))
            return False
        return asked is not None

    def _was_removed(self, client: Client, asked: RemoveDurable, ack: Ack) -> bool:
        """Remove the next copy, if there is one and no home refuses; return whether the answer is for the client."""
        if (client.connection, asked.request) not in self._removals:
            return True
        if ack.refusals and ack.refusals[0].code != RefusalCode.NO_SUCH_DURABLE:
            del self._removals[client.connection, asked.request]
            return True
        try:
            self._remove_next(client, asked)
        except RequestRefused as error:
            self._removals.pop((client.connection, asked.request), None)
            self._refuse(client, asked, error)
        except Gone:
            pass  # `left` forgets what the client asked for
        return False

    def ended(self, number: int) -> None:
        """Handle the end of session `number`, whose home has gone or was out of reach for too long."""
        session = self._sessions.get(number)
        if session is not None:
            self._over(session)

    def left(self, client: DurableRequester) -> None:
        """Forget a client whose connection has ended; the switch has ended its sessions."""
        for session in self._by_home.pop(client.connection, {}).values():
            del self._sessions[session.number]
        for id_ in [each for each in self._waiting if each[0] == client.connection]:
            del self._waiting[id_]
        for request in [each for each in self._removals if each[0] == client.connection]:
            del self._removals[request]
        self._again -= {each for each in self._again if each[0] == client.connection}

    def each_second(self) -> None:
        """Ask again for consumers that wait, refuse what got no answer in time, and leave homes that are out of
        reach."""
        waiting, self._waiting = self._waiting, {}
        for client, consume in waiting.values():
            with suppress(Gone):
                if client.is_open and not self.takes(client, consume):
                    self._clients.durables.asked(client, consume)
        before = time.monotonic() - ANSWER_S
        for session in list(self._sessions.values()):
            if any(since_s < before for _, since_s in session.asked.values()):
                self._end(session)
            else:
                self._look_for_copies(session)

    # --- steps -----------------------------------------------------------------------------------------------------

    def _end(self, session: NearSession) -> None:
        self._remotes.end(session.number)
        self._over(session)

    def _look_for_copies(self, session: NearSession) -> None:
        """Let consumers whose home has been out of reach for MOVE_S consume a copy that is in reach."""
        now_s = time.monotonic()
        if self._connections.network.reaches(session.home):
            session.away_s = None
            return
        session.away_s = session.away_s or now_s
        if now_s - session.away_s < MOVE_S:
            return
        for id_, name in sorted(session.attached.items()):
            with suppress(RequestRefused):
                found = self._meant(name)
                if found is not None and found.home != session.home:
                    self._remotes.send(session.number, encode(CancelConsume(0, id_)))
                    self._detach(session, id_)
                    self._tell_to_consume_again(session, id_)
        self._end_if_idle(session)

    def _tell_to_consume_again(self, session: NearSession, id_: int) -> None:
        self._again.add((session.client.connection, id_))
        reason = f"the way to router {session.home} was cut: consume again"
        end = ReplayEnd(id_, 0, RefusalCode.DURABLE_ELSEWHERE, reason)
        self._tell(session.client, FrameKind.REPLAY_END, encode(end))

    def _over(self, session: NearSession) -> None:
        """Answer what waits for a session that has ended, and let its consumers ask again."""
        client = session.client
        self._forget(session)
        for id_ in sorted(session.attached):
            self._tell_to_consume_again(session, id_)
        for body in session.unanswered():
            if isinstance(body, Consume):
                self._cut_one(session, body)
            elif isinstance(body, CancelConsume):
                self._answer(client, AckOf.CANCEL_CONSUME, body.request, body.id)
            else:
                if isinstance(body, RemoveDurable):
                    self._removals.pop((client.connection, body.request), None)
                self._refuse(client, body, _no_answer(session.home))

    def _cut_one(self, session: NearSession, consume: Consume) -> None:
        """Let a CONSUME that got no answer wait, if its consumer was attached before; otherwise refuse it."""
        client = session.client
        if (client.connection, consume.id) in self._again:
            name = f"{consume.name}@{session.home}"
            self._waiting[client.connection, consume.id] = client, replace(consume, name=name)
        else:
            self._refuse(client, consume, _no_answer(session.home))

    def _detach(self, session: NearSession, id_: int) -> None:
        session.attached.pop(id_, None)
        self._remotes.detach(session.number, id_)

    def _end_if_idle(self, session: NearSession) -> None:
        if session.is_idle and session.number in self._sessions:
            self._remotes.end(session.number)
            self._forget(session)

    def _forget(self, session: NearSession) -> None:
        self._sessions.pop(session.number, None)
        homes = self._by_home.get(session.client.connection, {})
        homes.pop(session.home, None)
        if not homes:
            self._by_home.pop(session.client.connection, None)

    def _answer(self, client: Client, of: AckOf, request: int, id_: int) -> None:
        self._tell(client, FrameKind.ACK, encode(Ack(of, request, (Range(id_, id_),))))

    def _refuse(self, client: Client, body: Request, error: RequestRefused) -> None:
        answer = refused(body, error.reason, error.code)
        if answer is not None:
            self._tell(client, FrameKind.ACK, encode(answer))

    @staticmethod
    def _tell(client: Client, kind: FrameKind, frame: bytes) -> None:
        if client.is_open:
            client.send(kind, frame, urgent=False)


def _too_many(session: NearSession) -> RequestRefused:
    return RequestRefused(RefusalCode.OVER_QUOTA, f"too many consumers at router {session.home}")


def _no_answer(home: str) -> RequestRefused:
    return RequestRefused(RefusalCode.HOME_AWAY, f"router {home} did not answer: try again, or connect to it")
