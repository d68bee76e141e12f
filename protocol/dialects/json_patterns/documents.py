"""JSON documents as attributes, for patterns that do not care where in an array a value is.

    {"a": {"b": 1}}                       a.b = 1
    {"a": ["x", ["y"]]}                   a[0] = "x"  a[1] = "y"  a[] = 2
    {"a": ["x", null]}                    a[0] = "x"  a[1]?null = true  a[]?null = true  a[] = 2
    {"a": [{"b": 1, "c": 2}, {"c": 3}]}   a.b[0] = 1  a.c[0] = 2  a.c[1] = 3  a.b[] = 1  a.c[] = 2  a[] = 0

Law: what is inside an array is a list of rows. Two values have the same number if they may satisfy a pattern together:
if no array has them in two of its elements. `path[]` is the number of values of the path, and there for an array of
objects, too. A document that has no such form is Refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.protocol.dialects.events import DEPTH_MAX, LENGTH, NULL
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value

ELEMENTS_MAX: Final = 8
"""Rows of an array."""

_Row = dict[str, Any]


def attributes_of(document: object) -> dict[str, Value]:
    if not isinstance(document, Mapping):
        raise Refused("an event is an object")
    found: dict[str, Value] = {}
    arrays: dict[str, set[str]] = {}  # the path of an array: the paths of the values in it
    for path, value in _outside_arrays(document, (), 0):
        if isinstance(value, list):
            rows = _rows(value, path, 0)
            arrays[path] = {name for row in rows for name in row}
            _put_rows(found, path, rows)
        else:
            _put(found, path, value)
    _check_apart(found, arrays)
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
        if len(rows) > ELEMENTS_MAX:
            raise Refused(f"the array {path!r} has more than {ELEMENTS_MAX} elements")
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
        if len(rows) * len(others) > ELEMENTS_MAX:
            raise Refused(f"the arrays in {path!r} have more than {ELEMENTS_MAX} combinations")
        rows = [_merged(row, other) for row in rows for other in others]
    return rows


def _merged(row: _Row, other: _Row) -> _Row:
    for name in row.keys() & other.keys():
        raise Refused(f"two values of the event have the name {name!r}")
    return row | other


def _put_rows(found: dict[str, Value], path: str, rows: list[_Row]) -> None:
    counts = {path: 0}
    for number, row in enumerate(rows):
        for name, value in row.items():
            counts[name] = counts.get(name, 0) + 1
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
