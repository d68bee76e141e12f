"""The subscriptions of a client, as they outlive connections.

One PendingSubscription is one `subscribe` call: several predicates, each under an id of its own, with one inbox. Law:
an id is used once in a client's life; a predicate that is refused here never reaches a router.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from tamis.client.messages.inbox import Inbox
from tamis.client.messages.waiter import Waiter
from tamis.protocol import dialects
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Predicate
from tamis.protocol.language import format_predicate, parse
from tamis.protocol.language.reading import plainly
from tamis.protocol.limits import DISJUNCTS_MAX, NAME_BYTES_MAX, SUBSCRIPTIONS_PER_FRAME_MAX
from tamis.protocol.spaces import NO_SPACES, SpaceSet
from tamis.protocol.wire.client_bodies import Reach, Refusal, SubscriptionItem
from tamis.protocol.wire.packed_filters import encode_filter

if TYPE_CHECKING:
    from tamis.protocol.dialects.dialect import Translated

_log = logging.getLogger("tamis.client")

_FRAME_SPARE: Final = 64
"""Bytes of a SUBSCRIBE frame besides its subscriptions; _AROUND is the overhead of msgpack for each of them."""
_AROUND: Final = 16
PREDICATES_A_TURN: Final = 32
"""The most predicates that are packed before other tasks run: some milliseconds."""
ON_ITS_WAY_S: Final = 1.0
"""The longest time, in seconds, that a message lost by a cut may have been in flight."""


GROUP: Final = "a worker group"
HOMES: Final = "a durable subscription of other routers"


class SubscriptionState(enum.Enum):
    ASKED = "waits for the router's answer, or for a connection"
    ACTIVE = "the router has it"
    ENDING = "waits for the router's answer to UNSUBSCRIBE"
    ENDED = "over"


@dataclass(frozen=True, slots=True)
class SubscribeOptions:
    """The options of a SUBSCRIBE frame, common to its subscriptions, and the spaces for parsing their texts."""

    own_messages: bool
    wait: Reach
    group: str = ""
    """The group that shares the messages; empty if there is none."""
    spaces: SpaceSet = field(default=NO_SPACES, compare=False)
    """The spaces that predicates may name."""
    space: str | None = field(default=None, compare=False)
    """The space that all predicates are about; None: each may name one."""


@dataclass(slots=True, eq=False)
class PendingSubscription:
    texts: tuple[str, ...]
    subscriptions: tuple[SubscriptionItem, ...]
    options: SubscribeOptions
    inbox: Inbox
    waiter: Waiter | None
    """Settled when the router has answered for every id: first to SUBSCRIBE, then to UNSUBSCRIBE."""
    state: SubscriptionState = SubscriptionState.ASKED
    was_active: bool = False
    missing_since_s: float | None = None
    """Messages published from this time on may be missing and were not reported by a Gap yet; None if none are."""
    due: set[int] = field(default_factory=set)
    """Ids without an answer from the router."""
    refusals: dict[int, Refusal] = field(default_factory=dict)
    narrowed: dict[int, str | None] = field(default_factory=dict)
    """By id, where rules of access let through a part only: the predicate in force; None if it was not told."""

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(subscription.id for subscription in self.subscriptions)

    @property
    def is_whole_at_once(self) -> bool:
        """Whether the router has the whole subscription from its first delivery on, and confirms it by that."""
        return self.options.wait is Reach.HOME and sum(len(each.filters) for each in self.subscriptions) == 1

    def text_of(self, id_: int) -> str:
        return self.texts[id_ - self.subscriptions[0].id]  # the ids of one call follow one another


class DecidedPredicate(NamedTuple):
    """A text of a dialect, or one that no predicate says: the predicate, which may be wider, and the residual program
    that decides; b"" if the predicate does. `indexed`: a predicate for the index of the router alone, if there is one.
    `dialect`: its name; "" for the language of Tamis."""

    text: str
    predicate: Predicate
    residual: bytes
    indexed: Predicate | None = None
    dialect: str = ""


class PackedPredicate(NamedTuple):
    """A predicate as text, its filters in wire form, and its residual program; b"" if it has none. `indexed`: filters
    for the index of the router alone, if there are any. `dialect`: that of the text; "" for the language of Tamis."""

    text: str
    filters: tuple[bytes, ...]
    residual: bytes = b""
    indexed: tuple[bytes, ...] = ()
    dialect: str = ""

    def item(self, id_: int) -> SubscriptionItem:
        return SubscriptionItem(id_, self.filters, self.residual, self.indexed, self.dialect)


def packing(
    predicates: Iterable[str | Predicate | DecidedPredicate], options: SubscribeOptions
) -> Iterator[PackedPredicate]:
    """Yield `predicates` packed, one at a time, so that other tasks can run in between."""
    for each in predicates:
        yield packed_of(each, options.spaces, options.space, is_exact=bool(options.group))


def packed_of(
    predicate: str | Predicate | DecidedPredicate,
    spaces: SpaceSet = NO_SPACES,
    space: str | None = None,
    *,
    is_exact: bool = False,
) -> PackedPredicate:
    """Return a predicate packed; PredicateError or Refused if it is invalid. `is_exact`: it must not need a residual
    program."""
    check_kind(predicate)
    text = text_of(predicate)
    if isinstance(predicate, str):
        predicate = parse(text, spaces=spaces, space=space) if is_exact else decided(text, spaces, space)
    elif space is not None:
        raise Refused("space= is only for predicates as text, not for a Predicate")
    if isinstance(predicate, DecidedPredicate):
        indexed = () if predicate.indexed is None else tuple(map(encode_filter, predicate.indexed.filters))
        filters = _packed_filters(predicate.predicate)
        return PackedPredicate(text, filters, predicate.residual, indexed, predicate.dialect)
    return PackedPredicate(text, _packed_filters(predicate))


def decided(text: str, spaces: SpaceSet = NO_SPACES, space: str | None = None) -> Predicate | DecidedPredicate:
    """Return what a text asks for, with the residual program of conditions that need one; PredicateError if it is
    invalid."""
    plain = plainly(text, space)
    if plain is not None:
        return plain
    from tamis.protocol.dialects.tamis.tamis import translate  # few texts need it

    found = translate(text, spaces, space)
    return found.predicate if found.residual is None else _asked(text, found)


def _asked(text: str, found: Translated, dialect: str = "") -> DecidedPredicate:
    for warning in found.warnings:
        _log.warning("in the predicate %s: %s", text, warning)
    residual = b"" if found.residual is None else found.residual.pack()
    return DecidedPredicate(text, found.predicate, residual, found.indexed, dialect)


def _packed_filters(predicate: Predicate) -> tuple[bytes, ...]:
    if not predicate.filters:
        raise Refused("a subscription to `false` would never receive anything")
    if len(predicate.filters) > DISJUNCTS_MAX:
        raise Refused(f"a predicate has at most {DISJUNCTS_MAX} alternatives, this one {len(predicate.filters)}")
    return tuple(encode_filter(filter_) for filter_ in predicate.filters)


def exactly(dialect: str, text: str, for_what: str) -> Predicate:
    """Return the predicate of a filter of a dialect; Refused if it is not exact, as `for_what` needs it to be."""
    found = dialects.get(dialect).translate(text)
    if not found.exact:
        raise Refused(f"{for_what} needs a filter that is exact; in this one {', '.join(found.needs)} is not")
    return found.predicate


def decided_in(
    predicate: str | Predicate, dialect: str | None, *, exact_for: str | None = None
) -> str | Predicate | DecidedPredicate:
    """Return what a filter of a dialect asks for; without a dialect, `predicate` itself. `exact_for`: what has no
    residual program, so that a filter which needs one is Refused."""
    if dialect is None:
        return predicate
    text = _filter_text(predicate)
    if exact_for is not None:
        return DecidedPredicate(text, exactly(dialect, text, exact_for), b"", dialect=dialect)
    return _asked(text, dialects.get(dialect).decided(text), dialect)


def _filter_text(predicate: str | Predicate) -> str:
    if not isinstance(predicate, str):
        raise Refused("dialect= is only for filters as text, not for a Predicate")
    return predicate


def check_kind(predicate: object) -> None:
    """Raise Refused unless `predicate` is text, a Predicate, or a filter of a dialect."""
    if not isinstance(predicate, str | Predicate | DecidedPredicate):
        hint = (
            "; several predicates are given as several arguments" if isinstance(predicate, list | tuple | set) else ""
        )
        raise Refused(f"a predicate is text or a Predicate, not {type(predicate).__name__}{hint}")


def text_of(predicate: str | Predicate | DecidedPredicate) -> str:
    if isinstance(predicate, DecidedPredicate):
        return predicate.text
    return predicate if isinstance(predicate, str) else format_predicate(predicate)


def described(predicates: Sequence[str | Predicate | DecidedPredicate], wanted: PendingSubscription | None) -> str:
    """Return the text that represents a subscription."""
    state = "not started" if wanted is None else wanted.state.name.lower()
    return f"{' or '.join(repr(text_of(predicate)) for predicate in predicates)}, {state}"


def subscription_bytes(subscription: SubscriptionItem) -> int:
    """Return an upper bound, close to exact, of the bytes of a subscription in a frame."""
    parts = (*subscription.filters, subscription.residual, *subscription.indexed)
    return _AROUND + len(subscription.dialect.encode()) + sum(_AROUND + len(packed) for packed in parts)


def batches(subscriptions: Iterable[SubscriptionItem], frame_bytes_max: int) -> Iterator[tuple[SubscriptionItem, ...]]:
    """Yield the subscriptions, in order, in the fewest batches that frames of at most `frame_bytes_max` bytes can
    carry."""
    batch: list[SubscriptionItem] = []
    size = _FRAME_SPARE
    for subscription in subscriptions:
        more = subscription_bytes(subscription)
        if batch and (size + more > frame_bytes_max or len(batch) == SUBSCRIPTIONS_PER_FRAME_MAX):
            yield tuple(batch)
            batch, size = [], _FRAME_SPARE
        batch.append(subscription)
        size += more
    if batch:
        yield tuple(batch)


def id_batches(ids: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for start in range(0, len(ids), SUBSCRIPTIONS_PER_FRAME_MAX):
        yield tuple(ids[start : start + SUBSCRIPTIONS_PER_FRAME_MAX])


def options_of(
    own_messages: bool,
    wait: str,
    group: str | None = None,
    spaces: SpaceSet = NO_SPACES,
    space: str | None = None,
) -> SubscribeOptions:
    reaches = {reach.name.lower(): reach for reach in Reach}
    if wait not in reaches:
        raise Refused(f"wait is {' or '.join(reaches)}, not {wait!r}")
    if group is not None and not isinstance(group, str):
        raise Refused(f"group is text, not {type(group).__name__}")
    if group is not None and not 1 <= len(group.encode(errors="replace")) <= NAME_BYTES_MAX:
        raise Refused(f"the name of a group has 1 to {NAME_BYTES_MAX} bytes, not {len(group.encode(errors='replace'))}")
    return SubscribeOptions(own_messages, reaches[wait], group or "", spaces, space)
