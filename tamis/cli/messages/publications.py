"""Messages to publish, in batches: made from the words of a command line, or read from stdin.

Law: a non-empty batch never waits for further messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count as count_from
from random import Random
from typing import TYPE_CHECKING, Final

from tamis.cli.lines import taken
from tamis.cli.messages.templates import Moment, Template
from tamis.cli.reach.events import event_attributes, line_attributes
from tamis.protocol.errors import Refused
from tamis.protocol.json_form import decode_publication
from tamis.protocol.limits import DELIVERABLE_BYTES_MAX
from tamis.protocol.message_text import parse_message
from tamis.protocol.values import Value

if TYPE_CHECKING:
    from tamis.cli.reach.wanted_names import WantedNames
from tamis.protocol.wire.data_frames import encode_publish

_BATCH: Final = 256
"""Messages made at a time: few enough to react to Ctrl-C, enough that the cost of a batch is negligible."""

_BYTES_PER_CHARACTER_MAX: Final = 10
"""The most bytes on the wire for one character of a line: a digit may be a number of nine bytes. Shorter lines always
fit."""

Publication = tuple[dict[str, Value], bytes]
Fit = Callable[[dict[str, Value]], dict[str, Value]]
"""Turns attributes into those of a message of its space; Refused if they violate the space."""


class Recipe:
    """A template for messages; Refused or MessageTextError if it is invalid. With a dialect the words are an event of
    its system."""

    def __init__(
        self,
        words: Sequence[str],
        payload: str | bytes,
        random: Random,
        fit: Fit | None = None,
        dialect: str | None = None,
        names: WantedNames | None = None,
    ) -> None:
        self._names = names
        self._fit = fit
        self._dialect = dialect
        self._words = [Template(word) for word in words]
        self._payload = Template(payload) if isinstance(payload, str) else payload
        self._random = random
        self._fixed: dict[str, Value] | None = None
        attributes, _ = self.message(1)
        if all(word.is_constant for word in self._words):
            self._fixed = attributes

    def message(self, count: int) -> Publication:
        moment = Moment(count, time.time(), self._random)
        attributes = self._fixed
        if attributes is None:
            words = [word.render(moment) for word in self._words]
            attributes = (
                parse_message(words) if self._dialect is None else event_attributes(words, self._dialect, self._names)
            )
            attributes = attributes if self._fit is None else self._fit(attributes)
        payload = self._payload
        return attributes, payload if isinstance(payload, bytes) else payload.render(moment).encode()


class Made:
    """`count` messages from a recipe; 0 means no limit."""

    refused = 0

    def __init__(self, recipe: Recipe, count: int) -> None:
        self._recipe = recipe
        self._count = count

    def __iter__(self) -> Iterator[list[Publication]]:
        for first in count_from(1, _BATCH):
            end = min(first + _BATCH, self._count + 1) if self._count else first + _BATCH
            if first >= end:
                return
            yield [self._recipe.message(number) for number in range(first, end)]


def _publication(line: str, fit: Fit | None, dialect: str | None, names: WantedNames | None) -> Publication:
    """Return the message of a line; Refused if the line is invalid, violates its space, or is too large for any
    router."""
    attributes, payload = decode_publication(line) if dialect is None else (line_attributes(line, dialect, names), b"")
    attributes = attributes if fit is None else fit(attributes)
    if len(line) * _BYTES_PER_CHARACTER_MAX > DELIVERABLE_BYTES_MAX:
        size = len(encode_publish(0, 0, 0, attributes, payload, 0))
        if size > DELIVERABLE_BYTES_MAX:
            raise Refused(
                f"a message can be delivered up to {DELIVERABLE_BYTES_MAX} bytes of frame, this one has {size}"
            )
    return attributes, payload


class InputMessages:
    """The messages on stdin, one JSON object per line, or one event of a dialect. `refused` counts invalid lines."""

    def __init__(self, fit: Fit | None = None, dialect: str | None = None, names: WantedNames | None = None) -> None:
        self._names = names
        self.refused = 0
        self._fit = fit
        self._dialect = dialect

    def __iter__(self) -> Iterator[list[Publication]]:
        for batch in taken("-", lambda line: _publication(line, self._fit, self._dialect, self._names)):
            messages = [message for message in batch if message is not None]
            self.refused += len(batch) - len(messages)
            yield messages
