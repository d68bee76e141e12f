"""Packed bytes by number, SLOTS of consecutive numbers in one object.

    page 3, numbers 48 to 63    |size of 48|size of 49|...|size of 63|bytes of 48|bytes of 49|...|bytes of 63|

Law: a router numbers its durable subscriptions from one on, so that most pages are full. A row is never empty: size 0
says that there is none. A page is replaced as a whole, and what was read from one stays as it was.
"""

from __future__ import annotations

import struct
from collections.abc import ItemsView, Iterable, Iterator, Mapping, MutableMapping
from itertools import chain, groupby
from typing import Final

_BITS: Final = 4
SLOTS: Final = 1 << _BITS
_SIZES: Final = struct.Struct(f"<{SLOTS}I")


class PackedPages(MutableMapping[int, bytes]):
    """A mapping whose values are not empty. Iteration goes by pages, and within one by numbers."""

    __slots__ = ("_count", "_pages")

    def __init__(self, rows: Iterable[tuple[int, bytes]] = ()) -> None:
        self._pages: dict[int, bytes] = {}
        self._count = 0
        self.update(rows)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.pages())

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        page = self._pages.get(number >> _BITS)
        return page is not None and _SIZES.unpack_from(page)[number & SLOTS - 1] > 0

    def __getitem__(self, number: int) -> bytes:
        page = self._pages.get(number >> _BITS)
        if page is not None:
            sizes = _SIZES.unpack_from(page)
            slot = number & SLOTS - 1
            start = _SIZES.size + sum(sizes[:slot])
            if sizes[slot]:
                return page[start : start + sizes[slot]]
        raise KeyError(number)

    def __setitem__(self, number: int, packed: bytes) -> None:
        self.update(((number, packed),))

    def __delitem__(self, number: int) -> None:
        rows = self._rows(number >> _BITS)
        del rows[number]
        self._write(number >> _BITS, rows)
        self._count -= 1

    def items(self) -> ItemsView[int, bytes]:
        return _Rows(self)

    def update(self, rows: Mapping[int, bytes] | Iterable[tuple[int, bytes]] = (), /) -> None:  # type: ignore[override]
        """Put rows, those of one page at once."""
        by_page = sorted(rows.items() if isinstance(rows, Mapping) else rows, key=_page_of)
        for page, some in groupby(by_page, key=_page_of):
            before = self._rows(page)
            after = before | dict(some)
            self._write(page, after)
            self._count += len(after) - len(before)

    def pages(self) -> Iterator[dict[int, bytes]]:
        """Yield the rows of each page that there is now, by number."""
        for page in list(self._pages):
            yield self._rows(page)

    def _rows(self, page: int) -> dict[int, bytes]:
        packed, rows, start = self._pages.get(page), {}, _SIZES.size
        if packed is not None:
            for number, size in enumerate(_SIZES.unpack_from(packed), page << _BITS):
                if size:
                    rows[number] = packed[start : start + size]
                    start += size
        return rows

    def _write(self, page: int, rows: dict[int, bytes]) -> None:
        if not rows:
            del self._pages[page]
            return
        in_order = [rows.get(number, b"") for number in range(page << _BITS, page + 1 << _BITS)]
        self._pages[page] = _SIZES.pack(*map(len, in_order)) + b"".join(in_order)


class _Rows(ItemsView[int, bytes]):
    """The rows of PackedPages, a page at a time."""

    _mapping: PackedPages

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for rows in self._mapping.pages():
            yield from rows.items()


def _page_of(row: tuple[int, bytes]) -> int:
    return row[0] >> _BITS
