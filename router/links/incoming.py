"""Bodies, assembled from the parts of control bodies of one link.

Law: bodies are passed on in the order in which they were complete. A short one is passed on at once; a long one is
decoded in slices, and later ones wait for it. A refused body affects no other. While more than WAITING_BYTES_MAX wait
to be decoded, reading from the link is paused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import Final

from tamis.protocol.errors import FrameError
from tamis.protocol.limits import ASSEMBLY_BYTES_MAX, CONTROL_PART_BYTES_MAX
from tamis.protocol.wire.parts import Complete, Part, PartAssembler, Whole
from tamis.protocol.wire.slices import at_once
from tamis.router.connections.work import SlicedWork

WAITING_BYTES_MAX: Final = ASSEMBLY_BYTES_MAX


class Incoming:
    """The assembly of the bodies of one link. `heard` is called with each body and the bytes of its frames, `refused`
    with the error of an invalid one, `pause` with whether to stop reading the link, `failed` when decoding has failed
    through a bug."""

    def __init__(
        self,
        work: SlicedWork,
        heard: Callable[[Whole, int], None],
        refused: Callable[[FrameError], None],
        pause: Callable[[bool], None],
        failed: Callable[[], None] | None = None,
    ) -> None:
        self._work, self._heard, self._refused, self._pause = work, heard, refused, pause
        self._failed = failed
        self._assembler = PartAssembler()
        self._waiting: deque[tuple[Complete, int]] = deque()
        self._sizes: dict[tuple[type, int], int] = {}  # bytes of the frames of an incomplete body, by kind and origin
        self._waiting_bytes = 0
        self._is_closed = self._is_reading = False

    def add(self, part: Part, size: int) -> None:
        """Add a part whose frame has `size` bytes. FrameError for a part that belongs to no body, or a body that does
        not decode."""
        complete = self._assembler.collect(part)
        size += self._sizes.pop((type(part), part.origin), 0) if part.k > 1 else 0
        if complete is None:
            self._sizes[type(part), part.origin] = size
            return
        if not self._waiting and len(complete.body) <= CONTROL_PART_BYTES_MAX:
            self._heard(at_once(complete.read()), size)
            return
        self._waiting.append((complete, size))
        self._waiting_bytes += len(complete.body)
        if self._waiting_bytes > WAITING_BYTES_MAX:
            self._pause(True)
        if not self._is_reading:
            self._is_reading = True
            self._work.add(self._read(), self._failed)

    def close(self) -> None:
        self._is_closed = True

    def _read(self) -> Generator[None, None, None]:
        while self._waiting:
            try:
                whole = yield from self._waiting[0][0].read()
            except FrameError as error:
                self._refused(error)
            else:
                self._heard(whole, self._waiting[0][1])
            if self._is_closed:
                return
            self._waiting_bytes -= len(self._waiting.popleft()[0].body)
            if self._waiting_bytes <= WAITING_BYTES_MAX:
                self._pause(False)
            yield
        self._is_reading = False
