"""Invariants 7, 8, 9, 11: stored state, the order of its changes, the number of control frames, and the account of
frames.

Law: bounds are those that the rules of routing state or that follow from their times; each is named here with its
reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

Report = Callable[[int, str], None]

FRAMES_PER_LINK = 2
"""Control frames that a change of one filter may cost a link: one in each direction."""
MERGED_ISSUES = 3
"""Advertisements that a change of one filter may cost where filters are merged: the filter, the merged filter in place
of two, and the filter into which that one is merged, which damping makes one."""
STORM_ISSUES = 9
"""Advertisements that may leave a router in two seconds of changes, damped 100 ms at first and twice that each time."""
CONTROL_WAIT_US = 20_000
"""The longest wait of control on a saturated link: for the data frame that is being sent."""


class Versions:
    """Invariant 8, versions never go back: report a router that holds an older version of an issuer than before. A
    router is compared with itself as long as it lives and holds something of the issuer. Epochs beyond `epoch_max` are
    excepted: a router with a single neighbour accepts that neighbour's clock unchecked, and may go back. The exception
    holds only for an epoch that was seen, so a router is examined after each statement that it receives."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._seen: dict[int, tuple[int, dict[int, tuple[int, int]]]] = {}

    def look(self, router: int, life: int, held: Mapping[int, tuple[int, int]], epoch_max: int) -> None:
        """Judge all versions in the state of a router."""
        before = self._before(router, life)
        for issuer, version in held.items():
            self._judge(router, issuer, before.get(issuer), version, epoch_max)
        self._seen[router] = life, dict(held)

    def look_at(self, router: int, life: int, issuer: int, version: tuple[int, int] | None, epoch_max: int) -> None:
        """Judge a router's version of one issuer; None if it has none."""
        before = self._before(router, life)
        if version is None:
            before.pop(issuer, None)
        else:
            self._judge(router, issuer, before.get(issuer), version, epoch_max)
            before[issuer] = version

    def _before(self, router: int, life: int) -> dict[int, tuple[int, int]]:
        if router not in self._seen or self._seen[router][0] != life:
            self._seen[router] = life, {}
        return self._seen[router][1]

    def _judge(
        self, router: int, issuer: int, before: tuple[int, int] | None, version: tuple[int, int], epoch_max: int
    ) -> None:
        if before is not None and version < before and before[0] <= epoch_max:
            self._report(8, f"{router:x} held {before} of {issuer:x} and returned to {version}")


def accounts(name: str, sent: int, delivered: int, dropped: Mapping[str, int], queued: int, report: Report) -> None:
    """Invariant 11, frames are accounted for: report a direction of a link on which sent differs from delivered +
    dropped + queued."""
    if sent != delivered + sum(dropped.values()) + queued:
        report(11, f"link {name}: {sent} sent are not {delivered} delivered, {dict(dropped)} dropped, {queued} queued")


def still_kept(router: int, about: Collection[int], living: Collection[int], report: Report) -> None:
    """Invariant 7, no state remains of what is gone: report the state of `router` about routers that left for good."""
    gone = sorted(set(about) - set(living))
    if gone:
        report(7, f"{router:x} still holds state of {', '.join(f'{each:x}' for each in gone)}")


def unfinished(router: int, counts: Mapping[str, int], report: Report) -> None:
    """Invariant 7, no state remains of what is gone: report the pending work of `router` at rest."""
    if counts:
        report(7, f"{router:x} has unfinished work: {', '.join(f'{count} {what}' for what, count in counts.items())}")


def quiet(said: Mapping[str, int], report: Report) -> None:
    """Invariant 9, quiet soon: report any frame sent at rest; `said` does not include comparisons of digests."""
    if any(said.values()):
        report(
            9, f"not quiet: {', '.join(f'{count} {what}' for what, count in said.items() if count)} were sent at rest"
        )


def one_change(what: str, frames: int, links: int, allowed_per_link: int, report: Report) -> None:
    """Invariant 9, few control frames: report a change that cost more than `allowed_per_link` control frames per
    link."""
    if frames > links * allowed_per_link:
        report(9, f"{what} cost {frames} control frames on {links} links, more than {allowed_per_link} on each")


def control_wait(wait_us: int, report: Report) -> None:
    """Invariant 9, few control frames, and R12: report control that waited too long on a saturated link."""
    if wait_us > CONTROL_WAIT_US:
        report(9, f"control waited {wait_us / 1000:.1f} ms on a saturated link")
