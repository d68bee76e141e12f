"""What the verdicts on a chapter depend on beside its records: what is known of durable subscriptions at that time.

Law: equal grounds mean equal findings, as in `questions/grounds.py`. Times are those of the router that wrote. A span
counts as far as it meets the time of the records; a message that has not left depends on the later lives of its router.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.analysis.durable.audit import PLACE, wants
from tamis.analysis.durable.catalog import TURN_US, DurableCatalog, Place, Span
from tamis.analysis.durable.fate import LEAVING

_ENDS: Final = (("from_us", "min"), ("to_us", "max"), ("first_epoch", "min"), ("last_epoch", "max"))


class DurableGrounds:
    def __init__(self, catalog: DurableCatalog, forms: Sequence[str]) -> None:
        self._catalog, self._forms = catalog, forms
        self._members: defaultdict[Place, list[tuple[int, int, list[Span]]]] = defaultdict(list)
        for (router, epoch, durable, connection), spans in sorted(catalog.members.items()):
            self._members[router, durable].append((epoch, connection, spans))
        self._wants: defaultdict[Place, list[tuple[int, str, int, int]]] = defaultdict(list)
        for row in wants(catalog).to_pylist():
            one = row["durable"], forms[row["filter"]], row["since_us"], row["until_us"]
            self._wants[row["router"], row["epoch"]].append(one)

    def of_messages(self, entered: Iterable[tuple[str, int, np.ndarray[Any, Any]]], found: pa.Table) -> str:
        """Return the grounds for what is found of messages. `entered`: when messages entered each life of a router;
        `found`: the rows of OF_MESSAGES of the chapter."""
        said = blake2b(digest_size=16)
        for router, epoch, t_us in entered:
            each = []
            for durable, form, since_us, until_us in self._wants[router, epoch]:
                first, end = np.searchsorted(t_us, since_us, "left"), np.searchsorted(t_us, until_us, "right")
                each += [(durable, form, int(first), int(end))] if first < end else []
            said.update(repr((router, epoch, sorted(each))).encode())
        stored = found.filter(pc.equal(found.column("what"), "stored")).select(list(PLACE))
        for place in sorted((row["router"], row["durable"]) for row in stored.to_pylist()):
            known = self._catalog.durables.get(place)
            filters = sorted(self._forms[each] for each in known.filters) if known else []
            said.update(repr((place, filters)).encode())
        return said.hexdigest()

    def of_positions(self, judged: pa.Table) -> str:
        """Return the grounds for the verdicts on positions. `judged`: the rows of JUDGED of the chapter."""
        said = blake2b(digest_size=16)
        ends = judged.group_by(list(PLACE), use_threads=False).aggregate(list(_ENDS))
        is_open = pc.invert(pc.is_in(judged.column("fate"), pa.array(LEAVING)))
        still = judged.filter(is_open).group_by(list(PLACE), use_threads=False).aggregate([("position", "list")])
        left = {(row["router"], row["durable"]): sorted(row["position_list"]) for row in still.to_pylist()}
        for row in sorted(ends.to_pylist(), key=lambda row: (row["router"], row["durable"])):
            place = row["router"], row["durable"]
            span, lives = Span(row["from_us_min"], row["to_us_max"]), (row["first_epoch_min"], row["last_epoch_max"])
            said.update(repr((place, self._policy(place), *self._then(place, span, lives))).encode())
            if place in left:
                said.update(repr([*self._since(place, lives[0], left[place])]).encode())
        return said.hexdigest()

    def _policy(self, place: Place) -> object:
        durable = self._catalog.durables.get(place)
        if durable is None:
            return None
        words = durable.overflow, durable.order_by, durable.latest_by, durable.dead_letter
        return sorted(durable.policy.items()), *words, durable.has_unknowns

    def _then(self, place: Place, span: Span, lives: tuple[int, int]) -> Iterator[object]:
        """Yield what is known of the time of the records."""
        catalog, (router, _) = self._catalog, place
        dark = [*catalog.holes.get(router, ()), *catalog.breaks.get(router, ())]
        yield min([span.to_us + 1, *(each.from_us for each in dark)])
        yield _within(dark, span, catalog.settle_us)
        for epoch in self._epochs(router, *lives):
            life = catalog.lives[router, epoch]
            yield epoch, life.is_broken, life.is_broken and min(life.last_us - catalog.settle_us, span.to_us)
        for epoch, connection, spans in self._members[place]:
            if lives[0] <= epoch <= lives[1]:
                yield epoch, connection, _within(spans, span, TURN_US)

    def _since(self, place: Place, epoch: int, positions: list[int]) -> Iterator[object]:
        """Yield what is known of the time after the records, on which messages depend that have not left."""
        catalog, (router, number) = self._catalog, place
        durable = catalog.durables.get(place)
        yield durable and durable.forgotten_us
        for each in catalog.later_lives(router, epoch):
            life, given_to = catalog.lives[router, each], catalog.given_to.get((router, each, number), 0)
            yield each, life.is_broken, catalog.has_hole(router, life.first_us, life.last_us)
            yield int(np.searchsorted(positions, given_to, "left"))

    def _epochs(self, router: str, first: int, last: int) -> list[int]:
        return [epoch for epoch in self._catalog.later_lives(router, first) if epoch <= last]


def _within(spans: Iterable[Span], span: Span, margin_us: int) -> list[tuple[int, int]]:
    """Return the parts of spans that meet another one, or nearly."""
    from_us, to_us = span.from_us - margin_us, span.to_us + margin_us
    return sorted((max(each.from_us, from_us), min(each.to_us, to_us)) for each in spans if each.meets(from_us, to_us))
