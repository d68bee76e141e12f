"""The bodies of single messages, from their first byte until the router has answered.

Law: they take at most BODIES_BYTES_MAX, those of one name at most OF_ONE_BYTES_MAX. What would exceed that is refused,
and the client may try again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tamis.serving.problem import refused
from tamis.serving.request import Request

BODIES_BYTES_MAX: Final = 67_108_864
OF_ONE_BYTES_MAX: Final = 16_777_216
_LATER: Final = (("Retry-After", "1"),)


class Bodies:
    def __init__(self) -> None:
        self.bytes = 0
        self._of: defaultdict[str, int] = defaultdict(int)

    @asynccontextmanager
    async def of(self, request: Request, name: str, bytes_max: int) -> AsyncIterator[bytes]:
        """Yield the body of a request by the client `name`. Raise RequestRefused past a bound."""
        body = bytearray()
        try:
            async for piece in request.body():
                body += piece
                self.bytes += len(piece)
                self._of[name] += len(piece)
                if len(body) > bytes_max:
                    raise refused("too-large", 413, f"a body may have at most {bytes_max} bytes")
                if self.bytes > BODIES_BYTES_MAX or self._of[name] > OF_ONE_BYTES_MAX:
                    raise refused("slow-down", 429, "too many bytes of messages are on their way", _LATER)
            yield bytes(body)
        finally:
            self.bytes -= len(body)
            self._of[name] -= len(body)
            if not self._of[name]:
                del self._of[name]
