"""A process that greets with wrong tokens: python -m tests.attack.greet_wrongly HOST PORT SECONDS RATE SOURCE...

Law: it begins RATE greetings a second, if the machine lets it, and keeps at most AT_ONCE open: the oldest gives way.
It ends by itself; how many it began is its last line.
"""

from __future__ import annotations

import collections
import contextlib
import resource
import selectors
import socket
import sys
import time

from tests.stranger import frames

AT_ONCE = 2_000
BURST = 100
HELLO = [frames.CLIENT, "press-1", 0, bytes(16), 1, 2, [], frames.FRAME_BYTES_MAX, 30_000, 0]
WRONG = frames.frame(frames.HELLO, HELLO) + frames.frame(
    frames.AUTH, [frames.TOKEN, b"a wrong token of 32 bytes, or so"]
)


def main(host: str, port: int, seconds: float, rate: float, sources: list[str]) -> int:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    watched, begun, began_s = selectors.DefaultSelector(), 0, time.monotonic()
    open_: collections.deque[socket.socket] = collections.deque()
    while (passed_s := time.monotonic() - began_s) < seconds:
        for _ in range(min(int(passed_s * rate) - begun, BURST)):
            if len(open_) == AT_ONCE:
                close(watched, open_.popleft())
            fresh = socket.socket()
            fresh.setblocking(False)
            fresh.bind((sources[begun % len(sources)], 0))
            fresh.connect_ex((host, port))
            watched.register(fresh, selectors.EVENT_WRITE)
            open_.append(fresh)
            begun += 1
        for key, events in watched.select(0.002):
            with contextlib.suppress(OSError):
                if events & selectors.EVENT_WRITE:
                    key.fileobj.send(WRONG)
                    watched.modify(key.fileobj, selectors.EVENT_READ)
                    continue
                if key.fileobj.recv(4_096):
                    continue
            close(watched, key.fileobj)
    return begun


def close(watched: selectors.BaseSelector, end: socket.socket) -> None:
    """Close a socket, unless it is closed."""
    if end.fileno() != -1:
        watched.unregister(end)
        end.close()


if __name__ == "__main__":
    print(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), sys.argv[5:]))
