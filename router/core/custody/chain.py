"""The chain of an entry for one home: numbers of messages in order, from the first that the home has not acknowledged.

Law: each link names the number before it, so that the home notices what is missing (C3). What is given up stays in the
chain as its numbers (C7). Sending goes back to the oldest link when the home asks, when an acknowledgement is overdue,
and when the home has another log (C9); `window` bounds the bytes that are sent and not acknowledged. A home that asks
for less than it had acknowledged was put back to a backup: a link without numbers tells it of the doubt (C10).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Final, NamedTuple

from tamis.router.core.custody.commands import PassedOver
from tamis.router.core.custody.frames import Message

ASKED_EVERY_US: Final = 25_000
"""The shortest time between two requests of a home that are granted; homes wait twice as long."""
RESEND_US: Final = 200_000
RESEND_MAX_US: Final = 5_000_000
"""The time after which links that are not acknowledged are sent again; it doubles up to the second."""
NUMBERS_MAX: Final = 4_096
"""Numbers that one link gives up."""
NUMBER_BYTES: Final = 3
"""Bytes of a number that is given up."""


class ChainLink(NamedTuple):
    """A message, or (None) the numbers up to `n` that were given up; no numbers: a doubt."""

    n: int
    numbers: tuple[int, ...]
    message: Message | None
    size: int
    at_us: int = 0
    """When the message entered."""

    @property
    def is_doubt(self) -> bool:
        return not self.numbers


class Chain:
    """`bytes_max` bounds the links, `window` those on the way."""

    def __init__(self, bytes_max: int, window: int) -> None:
        self.home_log = 0
        """The log that the home states; 0: it has stated none."""
        self.token = 0
        """That of the home's last request."""
        self.have = 0
        """The last number that the home says it has on the disk of that log; 0: none."""
        self.bytes = 0
        self.due_us = 0
        """When links are sent again; 0: none is on the way."""
        self._links: deque[ChainLink] = deque()
        self._bytes_max, self._window_max, self._window = bytes_max, window, window
        self._sent = self._sent_bytes = 0
        self._patience_us = RESEND_US
        self._ask_us = 0

    def __len__(self) -> int:
        return len(self._links)

    @property
    def is_full(self) -> bool:
        return self.bytes > self._bytes_max

    @property
    def since_us(self) -> int | None:
        """When the oldest message entered; None: there is none."""
        return next((link.at_us for link in self._links if link.message is not None), None)

    def has_room(self, size: int) -> bool:
        """Return whether a message of `size` bytes leaves the chain within its bound. One is taken in any case."""
        return self.since_us is None or self.bytes + size <= self._bytes_max

    def append(self, n: int, message: Message, size: int, at_us: int = 0) -> None:
        self._links.append(ChainLink(n, (n,), message, size, at_us))
        self.bytes += size

    def entered_until(self, until_us: int) -> tuple[int, ...]:
        """Return the numbers of the oldest messages that entered by then, at most NUMBERS_MAX."""
        open_ = (link for link in self._links if link.message is not None)
        return tuple(link.n for link in islice(takewhile(lambda link: link.at_us <= until_us, open_), NUMBERS_MAX))

    def oldest(self) -> tuple[int, ...]:
        """Return the numbers of the oldest messages that make half of the room, at most NUMBERS_MAX."""
        numbers: list[int] = []
        left = self._bytes_max // 2
        for link in self._links:
            if link.message is None:
                continue
            if left <= 0 or len(numbers) == NUMBERS_MAX:
                break
            numbers.append(link.n)
            left -= link.size
        return tuple(numbers)

    def give_up(self, numbers: tuple[int, ...]) -> None:
        """Replace the messages up to the last of these numbers, which are the oldest, by one link. Numbers that
        the home has acknowledged meanwhile are left out."""
        numbers = tuple(n for n in numbers if n > self.have)
        if not numbers:
            return
        gaps = [link for link in self._links if link.message is None]
        rest = [link for link in self._links if link.message is not None and link.n > numbers[-1]]
        self._links = deque([*gaps, ChainLink(numbers[-1], numbers, None, NUMBER_BYTES * len(numbers)), *rest])
        self.bytes = sum(link.size for link in self._links)
        self._go_back()

    def find(self, n: int) -> ChainLink | None:
        """Return the link that the number `n` is in."""
        return next((link for link in self._links if n in link.numbers), None)

    @property
    def last(self) -> int:
        """The last number in the chain, or before it."""
        return self._links[-1].n if self._links else self.have

    def begin(self, home_log: int) -> None:
        """Begin again, unless this log of the home is the present one (C9)."""
        if home_log != self.home_log:
            self.home_log, self.have = home_log, 0
            self._drop_doubt()
            self._go_back()

    def acknowledge(self, have: int, window: int, now_us: int) -> bool:
        """Return whether the home has more than ever before."""
        self._window = min(window, self._window_max)
        if have <= self.have:
            return False
        is_more = have > self._acknowledged
        self.have = have
        while self._links and self._links[0].n <= have:
            link = self._links.popleft()
            self.bytes -= link.size
            if self._sent > 0:
                self._sent -= 1
                self._sent_bytes -= link.size
        self._patience_us = RESEND_US
        self.due_us = now_us + RESEND_US if self._sent else 0
        return is_more

    def asked(self, have: int, token: int, now_us: int) -> PassedOver | None:
        """Send again from the first link that the home does not have, after a doubt if it had more; or return why
        not."""
        if now_us < self._ask_us:
            return PassedOver.TOO_SOON
        self._ask_us, self.token = now_us + ASKED_EVERY_US, token
        if have < self.have:
            acknowledged, self.have = self._acknowledged, have
            self._drop_doubt()
            self._links.appendleft(ChainLink(acknowledged, (), None, NUMBER_BYTES))
            self.bytes += NUMBER_BYTES
        self._go_back()
        return None

    def is_due(self, now_us: int) -> bool:
        """Return whether an acknowledgement is overdue; then links are sent again, later each time."""
        if self.due_us == 0 or now_us < self.due_us:
            return False
        self._patience_us = min(2 * self._patience_us, RESEND_MAX_US)
        self._go_back()
        return True

    def to_send(self, now_us: int) -> Iterator[tuple[ChainLink, int]]:
        """Yield the links for which the window has room, each with the number before it."""
        while self._sent < len(self._links):
            link = self._links[self._sent]
            if self._sent_bytes and self._sent_bytes + link.size > self._window:
                return
            previous = self._links[self._sent - 1].n if self._sent else self.have
            self._sent += 1
            self._sent_bytes += link.size
            self.due_us = self.due_us or now_us + self._patience_us
            yield link, previous

    @property
    def _acknowledged(self) -> int:
        """The last number that this log of the home ever acknowledged."""
        return self._links[0].n if self._links and self._links[0].is_doubt else self.have

    def _drop_doubt(self) -> None:
        if self._links and self._links[0].is_doubt:
            self.bytes -= self._links.popleft().size

    def _go_back(self) -> None:
        self._sent = self._sent_bytes = self.due_us = 0
