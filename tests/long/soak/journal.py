"""What happened in a soak, a line each, in the order in which it was seen.

Law: a line outlives SIGKILL of this process, as the system has it. Times are Unix seconds.

    sent BY N                        a message, before it is published
    confirmed BY N ENTRY MOVED       as stored; MOVED: whether its publisher has been at more than one router with it
    refused BY N CODE                it may be stored all the same
    failed BY N WHY                  so may this
    got HOME BY N ID POSITION        a delivery
    gap HOME REASON COUNT POSITIONS  COUNT may be null
    disk-lost ENTRY                  while the router is down
    fault KIND                       is due; how many there are says how far the schedule has come
    done KIND TARGET                 was done, after those of its target before it had ended
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Journal:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)

    def write(self, what: str, *words: Any) -> None:
        self._file.write(json.dumps([time.time(), what, *words]).encode() + b"\n")

    def close(self) -> None:
        self._file.close()

    def lines(self) -> Iterator[list[Any]]:
        """Yield the lines; one that was cut off by the end of a process is left out."""
        for line in self.path.read_bytes().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue
