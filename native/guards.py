"""Guards of a switch: which messages may enter from a client, and which it may get.

Law: a guard is the union of its allowed filters without its denied ones; a string operand `${name}` of `=` and `!=` in
them stands for the name of the guarded client. `native/switch/access/` evaluates it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import msgpack

from tamis.native._tm import ffi, lib
from tamis.native.results import check
from tamis.protocol.filters import Filter
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import encode_filter

NO_GUARD = int(lib.TM_GUARD_NONE)
_Cdata = Any  # cffi's types exist only at run time


@dataclass(frozen=True, slots=True)
class GuardRules:
    """The filters of a guard. `reasons` for the publisher of a refused message: for each constraint of each allowed
    filter why one that fails refuses it, then one for each denied filter, then one for a guard that allows nothing."""

    allowed: tuple[Filter, ...] = ()
    denied: tuple[Filter, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guarding:
    """What guards a client: guards by number, `NO_GUARD` for none. `stamp`: attributes that its messages get where they
    enter; `stamp_reason`: why a message that has one of them is refused. `answers`: the guard, in place of `hand`, of
    messages that satisfy the subscription `answers_id`. `refuse`: of a durable subscription, the guard of messages that
    it may turn away when it is full. `observes`: what a guard refuses is counted, and passes."""

    name: str = ""
    door: int = NO_GUARD
    hand: int = NO_GUARD
    answers: int = NO_GUARD
    answers_id: int = 0
    refuse: int = NO_GUARD
    observes: bool = False
    stamp: Mapping[str, Value] = field(default_factory=dict)
    stamp_reason: str = "the message has an attribute that only the router sets"


class GuardFigures(NamedTuple):
    """Counters of a guard since it was made."""

    refused: int
    withheld: int
    judged: int


def new_guard(switch: _Cdata, rules: GuardRules) -> int:
    """Make a guard in the C switch; return its number. Raise OutOfMemory, or Refused beyond a limit."""
    filters = [encode_filter(each) for each in (*rules.allowed, *rules.denied)]
    packed, filter_ends = _joined(filters)
    reasons, reason_ends = _joined([reason.encode() for reason in rules.reasons])
    guard, made = ffi.new("uint32_t *"), ffi.new("tm_guard_rules *")
    made.bytes, made.filter_ends = packed, filter_ends
    made.filters, made.allowed = len(filters), len(rules.allowed)
    if rules.reasons:
        made.reasons, made.reason_ends, made.reason_count = reasons, reason_ends, len(rules.reasons)
    check(lib.tm_switch_guard_new(switch, made, guard))
    return int(guard[0])


def free_guard(switch: _Cdata, guard: int) -> None:
    """Free a guard that no client has."""
    check(lib.tm_switch_guard_free(switch, guard))


def guard(switch: _Cdata, subscriber: int, guarding: Guarding | None) -> None:
    """Guard a subscriber from the next message on; None: it is not guarded."""
    if guarding is None:
        check(lib.tm_switch_guard(switch, subscriber, ffi.NULL))
    else:
        guard_all(switch, {subscriber: guarding})


def guard_all(switch: _Cdata, guardings: Mapping[int, Guarding]) -> None:
    """Guard subscribers from the next message on, all of them or, on an exception, none."""
    made = ffi.new("tm_guarding[]", len(guardings))
    owned = [_fill(each, guarding) for each, guarding in zip(made, guardings.values(), strict=True)]
    check(lib.tm_switch_guard_all(switch, ffi.new("uint32_t[]", list(guardings)), made, len(owned)))


def _fill(made: _Cdata, guarding: Guarding) -> tuple[_Cdata, ...]:
    """Write what guards a subscriber; return what owns its texts."""
    name, reason = guarding.name.encode(), guarding.stamp_reason.encode()[: lib.TM_REASON_BYTES_MAX]
    stamp = b"".join(msgpack.packb(each) for pair in guarding.stamp.items() for each in pair)
    c_name, c_reason, c_stamp = (ffi.from_buffer(each) for each in (name, reason, stamp))
    made.door, made.hand, made.answers = guarding.door, guarding.hand, guarding.answers
    made.answers_id, made.observes, made.refuse = guarding.answers_id, guarding.observes, guarding.refuse
    made.name, made.name_size = c_name, len(name)
    made.stamp, made.stamp_size, made.stamp_count = c_stamp, len(stamp), len(guarding.stamp)
    made.stamp_reason, made.stamp_reason_size = c_reason, len(reason)
    return c_name, c_reason, c_stamp


def figures_of(switch: _Cdata, guard: int) -> GuardFigures:
    """Return the counters of a guard."""
    found = ffi.new("tm_guard_stats *")
    check(lib.tm_switch_guard_figures(switch, guard, found))
    return GuardFigures(int(found.refused), int(found.withheld), int(found.judged))


class Border(NamedTuple):
    """What may cross a link. Guards, without `${name}`, by number: `came` of messages that come over it, `leaves` of
    copies that leave by it. `behind`: numbers of the routers whose messages it may bring; None: of all."""

    came: int = NO_GUARD
    leaves: int = NO_GUARD
    behind: frozenset[int] | None = None


class KeptBack(NamedTuple):
    """What the border of a link did not let cross: messages that came, and copies that did not leave."""

    refused: int
    withheld: int


def set_border(switch: _Cdata, connection: int, border: Border) -> None:
    """Give a link a border. No route for a router that is not behind it may lead over the link."""
    made = ffi.new("tm_border_terms *", {"in": border.came, "out": border.leaves})
    behind = ffi.new("uint64_t[]", sorted(border.behind or ()) or 1)
    if border.behind is not None:
        made.behind, made.behind_count = behind, len(border.behind)
    check(lib.tm_switch_border(switch, connection, made))


def kept_back(switch: _Cdata, connection: int) -> KeptBack:
    """Return what the border of a link has kept back."""
    found = ffi.new("tm_border_stats *")
    check(lib.tm_switch_border_figures(switch, connection, found))
    return KeptBack(int(found.refused), int(found.withheld))


def _joined(parts: Sequence[bytes]) -> tuple[_Cdata, _Cdata]:
    return ffi.from_buffer(b"".join(parts)), ffi.new("uint64_t[]", [*accumulate(map(len, parts))] or 1)
