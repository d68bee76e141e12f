"""JSON documents as attributes, for patterns that do not care where in an array a value is.

    {"a": {"b": 1}}                       a.b = 1
    {"a": ["x", ["y"]]}                   a[0] = "x"  a[1] = "y"  a[] = 2
    {"a": ["x", null]}                    a[0] = "x"  a[1]?null = true  a[]?null = true  a[] = 2
    {"a": [{"b": 1, "c": 2}, {"c": 3}]}   a.b[0] = 1  a.c[0] = 2  a.c[1] = 3  a.b[] = 1  a.c[] = 2  a[] = 0

Law: what is inside an array is a list of rows. Two values have the same number if they may satisfy a pattern together:
if no array has them in two of its elements. `path[]` is the number of values of the path, and there for an array of
objects, too. A document that has no such form is Refused.

Of an array with more rows than ELEMENTS_MAX the attributes have the first ones, and LEFT_OUT counts the values of the
others. A pattern is satisfied by one row of each array, or by numbers of values: so it wants a document exactly if it
wants one of the windows, each of which has as many rows of each array as attributes have, and counts of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final, NamedTuple

from tamis.protocol.dialects.events import DEPTH_MAX, LEFT_OUT, LENGTH, NULL
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value

ELEMENTS_MAX: Final = 8
"""Rows of an array that attributes have."""
ROWS_MAX: Final = 1_024
"""Rows of an array."""
WINDOWS_MAX: Final = 256
"""Windows of a document."""

_Row = dict[str, Any]


class _Document(NamedTuple):
    """What is outside of arrays, as attributes, and the rows of each array by its path."""

    outside: dict[str, Value]
    arrays: dict[str, list[_Row]]


def attributes_of(document: object) -> dict[str, Value]:
    read = _read(document)
    found = _window(read, dict.fromkeys(read.arrays, 0))
    left_out = sum(len(row) for rows in read.arrays.values() for row in rows[ELEMENTS_MAX:])
    if left_out:
        _put(found, LEFT_OUT, left_out)
    return found


def windows_of(document: object) -> Iterator[dict[str, Value]]:
    """Yield the windows of a document, the first of which is its attributes; Refused if they are too many."""
    read = _read(document)
    starts = [range(0, max(1, len(rows)), ELEMENTS_MAX) for rows in read.arrays.values()]
    if math.prod(map(len, starts)) > WINDOWS_MAX:
        raise Refused(f"the arrays have more than {WINDOWS_MAX:,} combinations of {ELEMENTS_MAX} elements")
    for window in product(*starts):
        yield _window(read, dict(zip(read.arrays, window, strict=True)))


def _read(document: object) -> _Document:
    if not isinstance(document, Mapping):
        raise Refused("an event is an object")
    read = _Document({}, {})
    for path, value in _outside_arrays(document, (), 0):
        if not isinstance(value, list):
            _put(read.outside, path, value)
        elif path in read.arrays:
            raise Refused(f"two values of the event have the name '{path}{LENGTH}'")
        else:
            read.arrays[path] = _rows(value, path, 0)
    return read


def _window(read: _Document, firsts: Mapping[str, int]) -> dict[str, Value]:
    """Return the attributes of a document with the rows of each array from one of them on."""
    found = dict(read.outside)
    for path, rows in read.arrays.items():
        _put_rows(found, path, rows, firsts[path])
    _check_apart(found, {path: {name for row in rows for name in row} for path, rows in read.arrays.items()})
    return found


def _outside_arrays(value: object, steps: tuple[str, ...], depth: int) -> Iterator[tuple[str, Any]]:
    _check_depth(depth)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _outside_arrays(inner, (*steps, str(name)), depth + 1)
        return
    path = ".".join(steps)
    if path.endswith(("]", NULL)):
        raise Refused(f"the name {path!r} ends with `]` or `{NULL}`")
    yield path, value


def _rows(value: object, path: str, depth: int) -> list[_Row]:
    """Return which values of what is inside an array belong together."""
    _check_depth(depth)
    if isinstance(value, list):
        rows = [row for element in value for row in _rows(element, path, depth + 1)]
        if len(rows) > ROWS_MAX:
            raise Refused(f"the array {path!r} has more than {ROWS_MAX:,} elements")
        if any(path in row for row in rows) and any(row and path not in row for row in rows):
            raise Refused(f"the array {path!r} has objects beside other values")
        return rows
    if not isinstance(value, Mapping):
        if path.endswith(("]", NULL)):
            raise Refused(f"the name {path!r} ends with `]` or `{NULL}`")
        return [{path: value}]
    rows = [{}]
    for name, inner in value.items():
        others = _rows(inner, f"{path}.{name}", depth + 1) or [{}]
        if len(rows) * len(others) > ROWS_MAX:
            raise Refused(f"the arrays in {path!r} have more than {ROWS_MAX:,} combinations")
        rows = [_merged(row, other) for row in rows for other in others]
    return rows


def _merged(row: _Row, other: _Row) -> _Row:
    for name in row.keys() & other.keys():
        raise Refused(f"two values of the event have the name {name!r}")
    return row | other


def _put_rows(found: dict[str, Value], path: str, rows: list[_Row], first: int) -> None:
    counts = {path: 0}
    for number, row in enumerate(rows, -first):
        for name, value in row.items():
            counts[name] = counts.get(name, 0) + 1
            if 0 <= number < ELEMENTS_MAX:
                _put(found, f"{name}[{number}]", value)
            if value is None:
                found[f"{name}{LENGTH}{NULL}"] = True
    for name, count in counts.items():
        _put(found, f"{name}{LENGTH}", count)


def _put(found: dict[str, Value], name: str, value: Any) -> None:  # noqa: ANN401 - of JSON
    if value is None:
        name, value = f"{name}{NULL}", True
    if name in found:
        raise Refused(f"two values of the event have the name {name!r}")
    found[name] = value


def _check_apart(found: Mapping[str, Value], arrays: Mapping[str, set[str]]) -> None:
    """Refuse a value whose path leads through an array that it is not in, by a name with dots."""
    if not arrays:
        return
    for name in found:
        path = name.removesuffix(NULL)
        is_alone = not path.endswith("]")
        path = path if is_alone else path.rpartition("[")[0]
        steps = path.split(".")
        for length in range(1, len(steps)):
            outside = ".".join(steps[:length])
            if outside in arrays and (is_alone or path not in arrays[outside]):
                raise Refused(f"the array {outside!r} and the value {path!r} share a name")


def _check_depth(depth: int) -> None:
    if depth > DEPTH_MAX:
        raise Refused(f"an event nests at most {DEPTH_MAX} deep")
