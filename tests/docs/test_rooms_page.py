"""The table of rooms on the page of the architecture is of the tree as it is."""

from __future__ import annotations

import re

from tests.docs.rooms import PAGE, ROOT, rooms

ROW = re.compile(r"^\| `([\w/]+)/` \| (\d+) \| ([\d,]+) \| (?:`([\w.]+)`)? \| (\d+) \|$", re.MULTILINE)


def test_the_table_has_every_room_and_its_door() -> None:
    table = {row[0]: row for row in ROW.findall(PAGE.read_text())}
    found = rooms()
    assert list(table) == [room.folder for room in found], "run python -m tests.docs.rooms"
    for room in found:
        _, _, lines, door, _ = table[room.folder]
        assert not door or (ROOT / room.folder / door).exists(), f"{room.folder}: no {door}"
        told = int(lines.replace(",", ""))
        assert abs(told - room.lines) <= max(200, room.lines / 10), f"{room.folder}: run python -m tests.docs.rooms"
