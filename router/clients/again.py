"""AUTH on an open connection: the client's next credential, before the one that it has shown expires or is removed.

Law: it is verified as at the greeting, with the same limits, and proves the same principal. Then the session ends when
it says, and its roles count from the next message on; all else of the session stays. A credential that is refused
changes nothing; after WRONG_MAX wrong ones in sequence no further one is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from tamis.native.results import OutOfMemory
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session_bodies import Auth, AuthMethod
from tamis.router.access.admitted import Admitted, Denial
from tamis.router.access.in_force import AccessInForce
from tamis.router.clients.acks import refusal
from tamis.router.clients.greeting import AdmissionPolicy, still_admitted
from tamis.router.clients.subscriber import Subscriber
from tamis.serving.addresses import address_of
from tamis.serving.slowing import Slowing

WRONG_MAX: Final = 5


class Verifying(Protocol):
    """The part of Clients that verifies credentials."""

    access: AccessInForce | None
    slowing: Slowing

    def policy(self, peer: str, certified: frozenset[str]) -> AdmissionPolicy: ...

    def verify(self, name: str, token: bytes, then: Callable[[Admitted | Denial], None]) -> bool:
        """Call `then` with the result for a signed token; return False, with nothing done, if too many wait."""

    def admit_again(self, subscriber: Subscriber, admitted: Admitted) -> bool: ...


class AdmittedClient(Protocol):
    """A client that is admitted."""

    name: str
    peer: str
    subscriber: Subscriber | None
    frame_bytes_max: int

    @property
    def is_open(self) -> bool: ...

    @property
    def about(self) -> dict[str, object]: ...

    def lasts_until(self, until_s: float | None) -> None: ...

    def send(self, kind: FrameKind, frame: bytes, urgent: bool = True) -> None: ...

    def fail(self, error: FrameError, kind: int = 0) -> None: ...


class AdmittedAgain:
    """The further credentials of one client, one at a time."""

    def __init__(self, client: AdmittedClient, register: Verifying) -> None:
        self._client, self._register = client, register
        self._is_verifying = False
        self._wrong = 0

    def take(self, auth: Auth) -> None:
        """Verify a credential, and answer."""
        client, policy = self._client, self._register.policy(self._client.peer, frozenset())
        wait_s = self._register.slowing.wait_s(address_of(client.peer), client.name)
        if auth.method is AuthMethod.NONE or auth.method not in policy.methods or policy.judge is None:
            offered = " or ".join(each.name for each in policy.methods if each is not AuthMethod.NONE)
            self._refuse(f"an open connection takes a credential by {offered or 'no method'}")
        elif self._wrong >= WRONG_MAX:
            self._refuse(f"{WRONG_MAX} credentials of this connection were wrong; connect again")
        elif self._is_verifying:
            self._refuse("the credential before is being verified", RefusalCode.OVERLOADED)
        elif wait_s > 0:
            text = f"too many wrong credentials; one is checked in {math.ceil(wait_s)} s"
            self._refuse(text, RefusalCode.OVERLOADED)
        elif auth.method is AuthMethod.TOKEN:
            self._judged(auth.method, policy.judge(client.name, auth.credential))
        else:
            self._is_verifying = self._register.verify(
                client.name, auth.credential, partial(self._verified, auth.method)
            )
            if not self._is_verifying:
                self._refuse("too many signed tokens wait to be verified; try again", RefusalCode.OVERLOADED)

    def _verified(self, method: AuthMethod, found: Admitted | Denial) -> None:
        self._is_verifying = False
        if self._client.is_open:
            self._judged(method, still_admitted(found, self._client.name))

    def _judged(self, method: AuthMethod, found: Admitted | Denial) -> None:
        client, subscriber, register = self._client, self._client.subscriber, self._register
        assert subscriber is not None  # noqa: S101 - it is admitted
        about = client.about | {"method": method.name.lower()}
        if isinstance(found, Admitted) and found.principal != subscriber.admitted.principal:
            found = Denial("this credential is of another principal")
        if isinstance(found, Denial):
            self._wrong += 1
            register.slowing.failed(address_of(client.peer), client.name)
            if register.access is not None:
                register.access.note("not admitted again", why=found.problem, **about)
            self._refuse(found.problem)
            return
        try:
            stays = register.admit_again(subscriber, found)
        except (OutOfMemory, Refused) as error:
            self._refuse(f"this router cannot enforce the rules for it: {error}", RefusalCode.OVERLOADED)
            return
        if not stays:
            client.fail(FrameError(ErrorCode.FULL, "this router has no room for the rate of this client"))
            return
        self._wrong = 0
        client.lasts_until(found.until_s)
        if register.access is not None:
            said = {"principal": found.principal, "roles": sorted(found.roles or ())}
            register.access.note("admitted again", **said, **about)
        client.send(FrameKind.ACK, encode(Ack(AckOf.AUTH, 0, (Range(0, 0),))))

    def _refuse(self, reason: str, code: RefusalCode = RefusalCode.NOT_ALLOWED) -> None:
        self._client.send(FrameKind.ACK, encode(Ack(AckOf.AUTH, 0, (), (refusal(0, code, reason),))))
