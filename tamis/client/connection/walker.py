"""Find ordinary deliveries in C where `tamis.native` is built; where it is not, the core reads every frame by itself.

Law: with and without C the same messages come out of the same bytes, a few times faster or slower.
"""

from __future__ import annotations

from typing import Protocol


class Walker(Protocol):
    def walk(self, data: bytes) -> tuple[list[int], list[int], list[int]]:
        """Return of each of the plain or kept DELIVER frames that `data` begins with where it ends, the one
        subscription or attachment that it is for, and its position, 0 of a plain one."""


class NoWalker:
    """A walker that finds no frame, which is always right."""

    def walk(self, data: bytes) -> tuple[list[int], list[int], list[int]]:  # noqa: ARG002
        return [], [], []


def new_walker() -> Walker:
    try:
        from tamis.native.deliveries import DeliveryWalker
    except ImportError:  # a machine without a compiler
        return NoWalker()
    return DeliveryWalker()
