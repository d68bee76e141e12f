"""The result of asking the rules: whether something is allowed, and the role and the constraint that decided.

Law: a reason names rules of the asked principal and values of its own message only.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tamis.protocol.filters import Constraint


class Verb(enum.Enum):
    """What a principal asks for; the value is its name in files, on the command line and in reasons."""

    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"
    SEES = "sees"
    GROUP = "group"
    MAKE = "make"
    REFUSE = "refuse"
    CONSUME = "consume"
    SKIP = "skip"
    INSPECT = "inspect"
    REMOVE = "remove"
    REPLAY = "replay"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Decision:
    """`role`: the role whose rule decided; "" if no role of the principal has one for this verb. `constraint`: the
    constraint that decided, if a predicate did. `hides`: a router answers as if the durable subscription did not exist,
    so that a refusal does not tell that it does. `narrowed`: a subscription is allowed, and some of what it asks for
    is not handed over."""

    verb: Verb
    allowed: bool
    role: str = ""
    reason: str = ""
    constraint: Constraint | None = None
    hides: bool = False
    narrowed: bool = False

    def __bool__(self) -> bool:
        return self.allowed
