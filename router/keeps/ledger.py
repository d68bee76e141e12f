"""What each keep has: the records of the log, folded.

Law: a ledger changes by `fold` alone, and what it holds depends on the records alone: a router that starts again folds
what was committed, and has what it had. Of each keep, appended = open + what has left, counted by how it left.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tamis.protocol import limits
from tamis.protocol.messages import MessageId
from tamis.protocol.values import identity
from tamis.protocol.wire.keep_bodies import KeepTerms
from tamis.router.keeps.records import (
    DONE_WITH,
    KeepForgotten,
    KeepMade,
    Leaving,
    LetterMoved,
    LogRecord,
    MessageKept,
    MessagesLeft,
    MessageUnstored,
)


def value_of(kept: MessageKept, name: str) -> tuple[object, ...] | None:
    """Return the value of attribute `name` as a key that is equal for equal values; None where there is none."""
    value = kept.message.attributes.get(name)
    return None if value is None else identity(value)


@dataclass(slots=True)
class KeepAccount:
    """What one keep has, by position, ascending. `past`: acknowledged, and kept for its time or as the latest."""

    number: int
    made: KeepMade
    open: dict[int, MessageKept] = field(default_factory=dict)
    past: dict[int, MessageKept] = field(default_factory=dict)
    appended: int = 0
    left: Counter[Leaving] = field(default_factory=Counter)

    @property
    def terms(self) -> KeepTerms:
        return self.made.terms

    def put(self, position: int, kept: MessageKept) -> None:
        self.open[position] = kept
        self.appended += 1

    def take(self, positions: Iterable[int], how: Leaving) -> None:
        """Let `positions` leave; what has left already stays out."""
        for position in positions:
            kept = self.open.pop(position, None)
            if kept is None:
                self.past.pop(position, None)
                continue
            self.left[how] += 1
            if how in DONE_WITH and (self.terms.for_ms or self.terms.latest_by):
                self.past[position] = kept


class Ledger:
    """All keeps of a router, by number, and the identities of the newest messages."""

    def __init__(self) -> None:
        self.keeps: dict[int, KeepAccount] = {}
        self.ids: OrderedDict[MessageId, int] = OrderedDict()
        self.has_forgotten_ids = False
        self.partial: dict[MessageId, set[int]] = {}
        """Of messages that a keep lacked: the keeps that have them."""

    def named(self, name: str) -> KeepAccount | None:
        return next((account for account in self.keeps.values() if account.made.name == name), None)

    def messages(self) -> dict[int, MessageKept]:
        """Return the messages that keeps refer to by their own numbers, ascending."""
        entries = [kept for keep in self.keeps.values() for kept in (*keep.open.values(), *keep.past.values())]
        return {kept.n: kept for kept in sorted(entries, key=lambda kept: kept.n)}

    def fold(self, n: int, record: LogRecord) -> None:
        """Take in `record`, whose number is `n`."""
        match record:
            case KeepMade():
                self._make(n, record)
            case MessageKept(keeps=keeps):
                self._remember(record.message.id, n)
                self._note_lack(record)
                for keep in keeps:
                    if keep in self.keeps:
                        self.keeps[keep].put(n, record)
            case MessagesLeft(keep, positions, how):
                self.keeps[keep].take(positions, how)
            case MessageUnstored(keep):
                self.keeps[keep].appended += 1
                self.keeps[keep].left[Leaving.DROPPED] += 1
            case LetterMoved(keep, position, to):
                self.keeps[to].put(n, self.keeps[keep].open[position])
                self.keeps[keep].take((position,), Leaving.DEAD)
            case KeepForgotten(keep):
                del self.keeps[keep]

    def _make(self, n: int, made: KeepMade) -> None:
        messages = self.messages() if made.taken else {}
        self.keeps[n] = KeepAccount(n, made)
        for position in made.taken:
            kept = messages[position]
            self.keeps[n].put(position, kept)
            if kept.message.id in self.partial:
                self.partial[kept.message.id].add(n)

    def _note_lack(self, record: MessageKept) -> None:
        if record.is_partial:
            self.partial.setdefault(record.message.id, set()).update(record.keeps)
        else:
            self.partial.pop(record.message.id, None)

    def _remember(self, identity_: MessageId, n: int) -> None:
        self.ids[identity_] = n
        if len(self.ids) > limits.MESSAGE_IDS_REMEMBERED:
            self.partial.pop(self.ids.popitem(last=False)[0], None)
            self.has_forgotten_ids = True
