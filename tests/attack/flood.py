"""A process that opens connections and says nothing: python -m tests.attack.flood HOST PORT SECONDS AT_ONCE SOURCE...

Law: it keeps AT_ONCE sockets open, from one SOURCE after the other, and opens a new one for each that is closed; it
ends by itself. How many it opened is its last line.
"""

from __future__ import annotations

import contextlib
import resource
import selectors
import socket
import sys
import time


def main(host: str, port: int, seconds: float, at_once: int, sources: list[str]) -> int:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    watched, opened, ends_s = selectors.DefaultSelector(), 0, time.monotonic() + seconds
    while time.monotonic() < ends_s:
        for _ in range(min(200, at_once - len(watched.get_map()))):
            fresh = socket.socket()
            fresh.setblocking(False)
            with contextlib.suppress(OSError):
                fresh.bind((sources[opened % len(sources)], 0))
                fresh.connect_ex((host, port))
                watched.register(fresh, selectors.EVENT_READ)
                opened += 1
                continue
            fresh.close()
        for key, _ in watched.select(0.002):
            with contextlib.suppress(OSError):
                if key.fileobj.recv(4_096):
                    continue
            watched.unregister(key.fileobj)
            key.fileobj.close()
    return opened


if __name__ == "__main__":
    print(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]))
