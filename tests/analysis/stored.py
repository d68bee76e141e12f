"""Durable subscriptions in simulated logs, which have none: two at each router, stored, delivered, acknowledged, lost
and reported, days of a consumer's in seconds, with faults of each kind.

Law: each router numbers its records again, so that no hole explains a fault.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any, Final

Record = dict[str, Any]
FORMS: Final = {1: '[["level",">=",3]]', 2: '[["urgent","=",true]]'}
POLICY: Final = {"for_ms": 0, "bytes": 1 << 30, "count": 4, "deliveries_max": 3}
CONSUMER: Final = 4_711
SLOW_US: Final = 40_000_000


def plant(logs: Path, random: Random) -> None:
    for folder in sorted(path for path in logs.iterdir() if path.is_dir()):
        events, messages = (_lives(folder, family) for family in ("events", "messages"))
        stored = _StoredOfRouter(random)
        for epoch, records in sorted(events.items()):
            stored.found(records[0])
            for record in messages[epoch]:
                stored.take(record)
            end_us = max(record["t_us"] for record in [*records, *messages[epoch]])
            stored.end(end_us)
            _write(folder, "events", epoch, [*records, *stored.events])
            _write(folder, "messages", epoch, [*messages[epoch], *stored.records])


class _StoredOfRouter:
    def __init__(self, random: Random) -> None:
        self.random, self.position, self.totals = random, dict.fromkeys(FORMS, 0), dict.fromkeys(FORMS, 0)
        self.events: list[Record] = []
        self.records: list[Record] = []

    def found(self, first: Record) -> None:
        """A life begins: its durable subscriptions are there, and each has a consumer."""
        self.head = {name: first[name] for name in ("v", "router", "epoch")}
        self.events, self.records = [], []
        for durable, form in FORMS.items():
            what = "found" if self.position[durable] else "made"
            more = {"name": f"d{durable}", "client": "c", "filters": [form], "terms": POLICY, "overflow": "drop-oldest"}
            self._add(self.events, "keep", first["t_us"], keep=durable, what=what, **more)
            attached = {"what": "attached", "connection": CONSUMER, "attachment": 1}
            self._add(self.events, "keep", first["t_us"] + 1, keep=durable, **attached)

    def take(self, message: Record) -> None:
        if "attributes" not in message or message.get("refused"):
            return
        content = json.loads(message["attributes"])
        for durable, is_right in ((1, content.get("level", 0) >= 3), (2, content.get("urgent") is True)):
            chance = self.random.random()
            if is_right and chance > 0.02:  # others are missing
                self._store(durable, message)
                if chance < 0.04:
                    self._store(durable, message)  # twice
            elif not is_right and chance < 0.01:
                self._store(durable, message)  # a stray

    def end(self, end_us: int) -> None:
        """What a router has not written when its life ends is in no record."""
        self.records = [record for record in self.records if record["t_us"] <= end_us]

    def _store(self, durable: int, message: Record) -> None:
        self.position[durable] += 1
        position, at_us, chance = self.position[durable], message["t_us"] + 100, self.random.random()
        one = {"keep": durable, "position": position}
        ids = {name: message[name] for name in ("origin", "number")}
        self._add(self.records, "kept", at_us, **one, **ids, what="kept", source="publisher")
        if durable == 2 and chance < 0.2:
            self.totals[durable] += 1
            self._add(self.records, "kept", at_us + 500, **one, what="dropped", total=self.totals[durable])
            told = {"what": "told", "lost": "dropped", "total": self.totals[durable], "connection": CONSUMER}
            if chance < 0.1:
                self._add(self.records, "kept", at_us + 600, keep=durable, **told)
            return
        who = CONSUMER if chance > 0.25 else CONSUMER + 1  # a stranger
        given = {"what": "given", "deliveries": 1, "connection": who}
        late_us = 1_000 + self.random.randrange(SLOW_US) * (chance > 0.9)
        self._add(self.records, "kept", at_us + late_us, **one, **ids, **given)
        if chance > 0.3:
            acked = {"what": "acked", "deliveries": 1, "connection": who}
            late_us += 1_000 + self.random.randrange(SLOW_US) * (chance > 0.8)
            self._add(self.records, "kept", at_us + late_us, **one, **acked)

    def _add(self, records: list[Record], kind: str, t_us: int, **more: Any) -> None:
        records.append(self.head | {"kind": kind, "t_us": t_us} | more)


def _lives(folder: Path, family: str) -> defaultdict[int, list[Record]]:
    found: defaultdict[int, list[Record]] = defaultdict(list)
    for path in sorted(folder.glob(f"{family}-*.jsonl")):
        for record in map(json.loads, path.read_text().splitlines()):
            found[record["epoch"]].append(record)
        path.unlink()
    return found


def _write(folder: Path, family: str, epoch: int, records: Iterable[Record]) -> None:
    ordered = sorted(records, key=lambda record: record["t_us"])
    lines = (json.dumps(record | {"n": n}) + "\n" for n, record in enumerate(ordered))
    (folder / f"{family}-{epoch}-000000.jsonl").write_text("".join(lines))
