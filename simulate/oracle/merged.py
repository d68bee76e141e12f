"""Invariants 4 and 5 where routers merge filters: what a router states besides the filters of its clients.

Law: nothing of how filters are merged is used, but contents and what clients want. A stated filter that no client
wants must stand for two or more that clients want and the router does not state, and must admit no level outside the
range of theirs: the narrower filter must have come back once a part has gone. Together, the stated filters admit what
clients want.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from tamis.simulate.oracle.truth import Truth

Report = Callable[[int, str], None]


class MergedStatements:
    def __init__(
        self,
        truth: Truth,
        levels: Sequence[int],
        packed_of: Callable[[int], bytes],
        contents_of: Callable[[bytes], int],
        report: Report,
    ) -> None:
        """`levels` has the level of each content; `packed_of` returns the filter of a number of the truth, and
        `contents_of` what a filter admits."""
        self._truth, self._levels, self._report = truth, levels, report
        self._packed_of, self._contents_of = packed_of, contents_of
        self.stated: dict[int, int] = {}
        """Router -> the contents that it states, wanted or not, when it was judged last."""
        self.merged = 0
        """Merged filters, summed up over all judgements."""
        self.parts = 0
        """Filters that merged ones stand for, likewise."""
        self.wanted = 0
        """Wanted contents, summed up over routers and judgements."""
        self.vain = 0
        """Contents that are stated and wanted by no client, likewise."""

    def judge(self, router: int, filters: Collection[bytes]) -> None:
        """Judge the filters that a router states at rest."""
        wants = {
            self._packed_of(number): want.stated
            for wants in self._truth.in_force.values()
            for number, want in wants.items()
            if want.router == router
        }
        stated, wanted = 0, self._truth.contents_wanted_at(router)
        for packed in filters:
            contents = self._contents_of(packed)
            stated |= contents
            if packed not in wants:
                parts = [part for each, part in wants.items() if each not in filters and part & contents == part]
                self._judge_merged(router, contents, parts)
        if wanted & ~stated:
            self._report(5, f"{router:x} does not state contents {wanted & ~stated:x} that its clients want")
        self.stated[router] = stated
        self.wanted += wanted.bit_count()
        self.vain += (stated & ~wanted).bit_count()

    def _judge_merged(self, router: int, contents: int, parts: Collection[int]) -> None:
        self.merged += 1
        self.parts += len(parts)
        if len(parts) < 2:
            self._report(4, f"{router:x} states a filter that stands for {len(parts)} filters of its clients")
            return
        union = 0
        for part in parts:
            union |= part
        levels, of_parts = self._levels_of(contents), self._levels_of(union)
        if levels and not (of_parts and min(of_parts) <= min(levels) and max(levels) <= max(of_parts)):
            self._report(4, f"{router:x} states a merged filter that is wider than its parts")

    def _levels_of(self, contents: int) -> set[int]:
        return {level for number, level in enumerate(self._levels) if contents >> number & 1}
