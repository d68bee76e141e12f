"""The table of rooms on the page of the architecture is of the tree as it is."""

from __future__ import annotations

import re

import pytest

from tests.docs.rooms import PAGE, ROOT, reached, rooms

OTHERS_MAX = 60
"""Files that one needs to read beside a file that holds a part of the router together."""

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


@pytest.mark.parametrize(
    "file", ["router/links/network.py", "router/clients/requests.py", "router/durable/registry.py"]
)
def test_what_holds_a_part_together_can_be_read_with_few_other_files(file: str) -> None:
    others = sorted(path.relative_to(ROOT).as_posix() for path in reached(ROOT / file) - {ROOT / file})
    assert len(others) <= OTHERS_MAX, f"name what it needs in a Protocol beside it: {others}"
