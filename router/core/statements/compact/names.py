"""Names in order, each with the places that have it, in blocks of lines.

    bill 0 4 | bill 2 1 | orders 0 1 | trades 1 7      a name, and the two numbers of a place

Law: lines are in the order of their bytes, which is that of names: UTF-8 has the order of its characters, a byte 0 ends
a name and is followed by FF within one, and no text has the byte FE, which ends a line. A block has at most LINES_MAX
lines; one that gets more is divided evenly, and one that has few is joined with the next.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Final, NamedTuple

LINES_MAX: Final = 64
_LINE_END: Final = b"\xfe"
_NAME_END: Final = b"\0"
_WITHIN: Final = b"\0\xff"


class Place(NamedTuple):
    """Where a name is: numbers of a holder, and of one of its rows."""

    holder: int
    number: int


Named = Iterable[tuple[str, Place]]


class NameIndex:
    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    # --- questions

    def places(self, name: str) -> list[Place]:
        """Return the places that have a name."""
        found, begin = [], _begin(name)
        for line in self._lines_from(begin):
            if not line.startswith(begin) or line.startswith(_WITHIN, len(begin) - 1):
                break
            holder, number = line[len(begin) :].split()
            found.append(Place(int(holder, 16), int(number, 16)))
        return found

    def behind(self, name: str, most: int) -> list[str]:
        """Return the first names behind `name`, at most `most`."""
        behind = (each for each in _names(self._lines_from(_begin(name))) if each != name)
        return list(islice(behind, most))

    def listed(self, first: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the names in order, each with the number of its first line, from that number on. What changes meanwhile
        is heeded from the next block on."""
        before = max(0, first - 1)
        last = ""
        for number, line in enumerate(self._lines_from(self._line(before)), before):
            name = _name(line)
            if name != last and number >= first:
                yield number, name
            last = name

    # --- changes

    def add(self, named: Named) -> None:
        """Note places of names."""
        for at, lines in self._by_block(named):
            held = self._lines(at)
            known = held if len(lines) == 1 else {*held}
            held += [line for line in lines if line not in known]
            held.sort()
            self._write(at, at + 1, held)

    def remove(self, named: Named) -> None:
        """Forget places of names."""
        for at, lines in self._by_block(named):
            gone, end = {*lines}, at + 1
            left = [line for line in self._lines(at) if line not in gone]
            if len(left) < LINES_MAX // 4 and end < len(self._blocks):
                left += self._lines(end)
                end += 1
            self._write(at, end, left)

    # --- blocks

    def _by_block(self, named: Named) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the lines of `named` in order, those of a block together with its number; that one may be replaced."""
        lines = sorted({_begin(name) + b"%x %x" % place for name, place in named})
        start = 0
        while start < len(lines):
            at = self._at(lines[start])
            is_last = at + 1 >= len(self._blocks)
            end = len(lines) if is_last else bisect_left(lines, _first_line(self._blocks[at + 1]), start)
            yield at, lines[start:end]
            start = end

    def _write(self, at: int, end: int, lines: list[bytes]) -> None:
        """Write `lines`, in order, in place of the blocks from `at` to `end`."""
        if 0 < len(lines) <= LINES_MAX and end == at + 1 <= len(self._blocks):
            self._blocks[at] = _LINE_END.join(lines)
            return
        count = -(-len(lines) // LINES_MAX)
        cuts = [len(lines) * each // count for each in range(count + 1)] if count else []
        self._blocks[at:end] = [_LINE_END.join(lines[first:next_]) for first, next_ in pairwise(cuts)]

    def _at(self, line: bytes) -> int:
        """Return the number of the block that has `line`, or would have it."""
        return max(0, bisect_right(self._blocks, line, key=_first_line) - 1)

    def _lines(self, at: int) -> list[bytes]:
        return self._blocks[at].split(_LINE_END) if at < len(self._blocks) else []

    def _line(self, number: int) -> bytes:
        """Return a line by its number; behind all lines, one that is behind them."""
        for at, block in enumerate(self._blocks):
            count = block.count(_LINE_END) + 1
            if number < count:
                return self._lines(at)[number]
            number -= count
        return _LINE_END

    def _lines_from(self, begin: bytes) -> Iterator[bytes]:
        """Yield the lines in order, from the first that is not before `begin`."""
        at = self._at(begin)
        while lines := self._lines(at):
            yield from lines[bisect_left(lines, begin) :]
            begin = lines[-1] + _NAME_END
            at = bisect_right(self._blocks, begin, key=_first_line)


def _begin(name: str) -> bytes:
    """Return what a line of this name begins with."""
    return name.encode().replace(_NAME_END, _WITHIN) + _NAME_END


def _name(line: bytes) -> str:
    return line[: line.rindex(_NAME_END)].replace(_WITHIN, _NAME_END).decode()


def _names(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the name of lines, once for those that follow each other."""
    last = None
    for line in lines:
        name = _name(line)
        if name != last:
            yield name
        last = name


def _first_line(block: bytes) -> bytes:
    return block[: block.find(_LINE_END)] if _LINE_END in block else block
