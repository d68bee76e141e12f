"""What is told each second: messages for a neighbour without a link are told under its name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tamis.router.records.seconds import Seconds


def test_messages_that_found_no_link_are_told_once() -> None:
    found = iter([{7: 3, 8: 1}, {9: 2}, {}])
    switch = SimpleNamespace(increments=lambda at: ([], at), unlinked=lambda: next(found))
    neighbours = SimpleNamespace(name_of={7: "b", 8: "c", 9: "d"}.__getitem__)
    noted: list[dict[str, Any]] = []
    recorder: Any = SimpleNamespace(note=lambda kind, **said: noted.append({"kind": kind, **said}))
    plane: Any = SimpleNamespace(switch=switch, network=SimpleNamespace(neighbours=neighbours))
    Seconds(plane, recorder, Any).stop()
    assert noted == [
        {"kind": "interface", "neighbour": name, "dropped": {"no_link": count}}
        for name, count in (("b", 3), ("c", 1), ("d", 2))
    ]
