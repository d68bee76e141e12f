"""The search for plain deliveries, in C where `tamis.native` is built; elsewhere the core decodes every frame.

Law: with and without C equal bytes yield equal messages, at different speed.
"""

from __future__ import annotations

from typing import Protocol


class Walker(Protocol):
    def walk(self, data: bytes) -> tuple[list[int], list[int], list[int]]:
        """Return, for each plain or durable DELIVER frame at the start of `data`: its end, the id of its single
        subscription or consumer, and its position, 0 if it is plain."""


class NoWalker:
    """A walker that finds no frame, which is always correct."""

    def walk(self, data: bytes) -> tuple[list[int], list[int], list[int]]:  # noqa: ARG002
        return [], [], []


def new_walker() -> Walker:
    try:
        from tamis.native.deliveries import DeliveryWalker
    except ImportError:  # a machine without a compiler
        return NoWalker()
    return DeliveryWalker()
