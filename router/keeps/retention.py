"""What has to leave a keep, by its terms.

Law: the answer depends on what the keep has and on Unix time alone, so a router that starts again, whose log was
cut behind any record, brings its keeps within their terms. The oldest go first. What a member has out does not expire:
it is looked at again when it comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tamis.router.keeps.ledger import KeepAccount, value_of
from tamis.router.keeps.records import Leaving, MessageKept


def leaving(account: KeepAccount, out: Collection[int], wall_ms: int) -> Iterator[tuple[tuple[int, ...], Leaving]]:
    """Give the positions that have to leave at `wall_ms`, with how; take each answer before asking for the next.
    `out`: the positions that members have."""
    yield tuple(_expired(account, out, wall_ms)), Leaving.EXPIRED
    yield tuple(_aged(account, out, wall_ms)), Leaving.EXPIRED
    yield tuple(_replaced(account)), Leaving.REPLACED
    yield tuple(_too_many(account)), Leaving.DROPPED


def has_room(account: KeepAccount, size: int) -> bool:
    """Return whether the keep stays within its bounds with one more message of `size` bytes. What is acknowledged and
    kept on gives way."""
    terms = account.terms
    held = sum(kept.size for kept in account.open.values())
    return held + size <= terms.bytes and (not terms.count or len(account.open) < terms.count)


def _expired(account: KeepAccount, out: Collection[int], wall_ms: int) -> Iterator[int]:
    for position, kept in account.open.items():
        if kept.expires_ms and kept.expires_ms <= wall_ms and position not in out:
            yield position


def _aged(account: KeepAccount, out: Collection[int], wall_ms: int) -> Iterator[int]:
    """Give what was kept for as long as the terms say, acknowledged or not."""
    if account.terms.for_ms:
        for position, kept in _all(account):
            if kept.at_ms + account.terms.for_ms <= wall_ms and position not in out:
                yield position


def _replaced(account: KeepAccount) -> Iterator[int]:
    """Give what has an equal value of `latest_by` as something newer."""
    newest: dict[tuple[object, ...], int] = {}
    if account.terms.latest_by:
        for position, kept in _all(account):
            value = value_of(kept, account.terms.latest_by)
            if value is not None:
                if value in newest:
                    yield newest[value]
                newest[value] = position


def _too_many(account: KeepAccount) -> Iterator[int]:
    """Give the oldest of what is past the bounds: first of what is acknowledged and kept on, then of the others."""
    terms = account.terms
    everything = [*account.past.items(), *account.open.items()]
    count, held = len(everything), sum(kept.size for _, kept in everything)
    for position, kept in everything:
        if held <= terms.bytes and (not terms.count or count <= terms.count):
            return
        yield position
        count, held = count - 1, held - kept.size


def _all(account: KeepAccount) -> list[tuple[int, MessageKept]]:
    """Return what the keep has, acknowledged or not, by ascending position."""
    return sorted((account.past | account.open).items(), key=lambda item: item[0])
