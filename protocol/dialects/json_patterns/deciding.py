"""The residual program of a pattern: true of exactly the events that the pattern wants.

    one path           path, or one of path[0] ... path[7] if there is path[]
    a.b and a.c        if there is a[], one row has both: a.b[0] and a.c[0], or a.b[1] and a.c[1], ...
                       else each by itself

Law: a program decides every event that documents.py takes, or there is none: one for a pattern that needs more than a
program holds is not made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.dialects.events import LENGTH, NULL
from tamis.protocol.dialects.json_patterns.conditions import emit_any
from tamis.protocol.dialects.json_patterns.documents import ELEMENTS_MAX
from tamis.protocol.dialects.json_patterns.pattern import Joined, Member, PathShape, PatternTree, members_of, rail_of
from tamis.protocol.dialects.json_patterns.sharing import SharingAssembler
from tamis.protocol.dialects.rails import undecided
from tamis.protocol.dialects.widen import within_limits
from tamis.protocol.errors import Refused
from tamis.protocol.limits import NAME_BYTES_MAX
from tamis.protocol.residual import Opcode, Program
from tamis.protocol.residual.instructions import CONSTANTS_MAX

_Rows = Mapping[str, int | None]
"""The row that the values inside an array are taken from; None where the path is no array."""


def decided(tree: PatternTree, objects: Sequence[str] = ()) -> Translated:
    """Return the translation of a pattern. What is at the paths `objects` is no array."""
    rail = rail_of(tree)
    if not rail.needs and _share_an_array(tree, objects):
        rail = undecided(rail, "values of one object in an array")
    return within_limits(rail, decide=lambda: program_of(tree, objects))


def _share_an_array(tree: PatternTree, objects: Sequence[str]) -> bool:
    """Return whether the values of two members may be in one array of objects."""
    above = Counter(
        member.path[:at]
        for member in members_of(tree)
        for at, character in enumerate(member.path)
        if character == "." and member.path[:at] not in objects
    )
    return any(count > 1 for count in above.values())


def program_of(tree: PatternTree, objects: Sequence[str] = ()) -> Program | None:
    """Return the program of a pattern; None if it is larger than a program may be."""
    members = list(islice(members_of(tree), CONSTANTS_MAX + 1))
    if len(members) > CONSTANTS_MAX or any(len(member.path) > NAME_BYTES_MAX for member in members):
        return None
    made = SharingAssembler()
    try:
        _emit(made, tree, dict.fromkeys(objects))
        return made.program()
    except Refused:
        return None


def _emit(made: SharingAssembler, tree: PatternTree, rows: _Rows) -> None:
    if isinstance(tree, Member):
        _emit_member(made, tree, rows)
    elif tree.conjunctive:
        for count, parts in enumerate(_connected(tree.parts, rows)):
            _emit_together(made, parts, rows)
            if count:
                made.emit(Opcode.AND)
    else:
        for count, part in enumerate(tree.parts):
            _emit(made, part, rows)
            if count:
                made.emit(Opcode.OR)


def _emit_together(made: SharingAssembler, parts: Sequence[PatternTree], rows: _Rows) -> None:
    """Append the conjunction of parts, whose values in one array must be of one row."""
    outside = _shared(parts, rows)
    if not outside:
        for count, part in enumerate(parts):
            _emit(made, part, rows)
            if count:
                made.emit(Opcode.AND)
        return
    for count, path in enumerate(outside):
        made.exists(f"{path}{LENGTH}")
        if count:
            made.emit(Opcode.OR)
    no_array = made.jump(Opcode.BRANCH)
    for number in range(ELEMENTS_MAX):
        _emit(made, Joined(tuple(parts), True), {**rows, **dict.fromkeys(outside, number)})
        if number:
            made.emit(Opcode.OR)
    end = made.jump(Opcode.JUMP)
    made.place(no_array)
    _emit(made, Joined(tuple(parts), True), {**rows, **dict.fromkeys(outside, None)})
    made.place(end)


# --- one path --------------------------------------------------------------------------------------------------------


def _emit_member(made: SharingAssembler, member: Member, rows: _Rows) -> None:
    if member.of_values:
        number = _row(member, rows)
        if number is not None:
            _emit_alone(made, member, f"{member.path}[{number}]")
        elif member.of_any_value:
            _emit_any_value(made, member)
        else:
            _emit_values(made, member)
    if member.or_absent:
        _emit_any_value(made, member)
        made.emit(Opcode.NOT)
        if member.of_values:
            made.emit(Opcode.OR)


def _emit_alone(made: SharingAssembler, member: Member, name: str) -> None:
    emit_any(made, member.conditions, name)
    if member.or_null:
        made.exists(f"{name}{NULL}")
        if member.conditions:
            made.emit(Opcode.OR)


def _emit_values(made: SharingAssembler, member: Member) -> None:
    """Append whether the value, or one of several in an array, satisfies a condition."""
    path = member.path
    skips = []
    if member.shape is PathShape.LIST:
        made.constant(False)
    else:
        _emit_alone(made, member, path)
    if member.shape is PathShape.ANY:
        skips.append(made.jump(Opcode.JUMP_TRUE))
        made.exists(f"{path}{LENGTH}")
        skips.append(made.jump(Opcode.BRANCH))
    if member.shape is not PathShape.TEXT and member.conditions:
        names = [f"{path}[{number}]" for number in range(ELEMENTS_MAX)]
        start = made.place_of_next()
        emit_any(made, member.conditions, names[0])
        made.emit(Opcode.OR)
        made.repeat(start, names)
    if member.shape is not PathShape.TEXT and member.or_null:
        made.exists(f"{path}{LENGTH}{NULL}")
        made.emit(Opcode.OR)
    for skip in skips:
        made.place(skip)


def _emit_any_value(made: SharingAssembler, member: Member) -> None:
    """Append whether the path has a value, which is never unknown."""
    path = member.path
    if member.shape is PathShape.LIST:
        made.constant(False)
    else:
        made.exists(path)
    if member.shape is PathShape.ANY:
        made.exists(f"{path}{NULL}")
        made.emit(Opcode.OR)
    if member.shape is not PathShape.TEXT:
        made.exists(f"{path}{LENGTH}")
        made.attribute(f"{path}{LENGTH}")
        made.constant(0)
        made.emit(Opcode.GT)
        made.emit(Opcode.AND)
        made.emit(Opcode.OR)


# --- arrays that several paths lead through --------------------------------------------------------------------------


def _row(member: Member, rows: _Rows) -> int | None:
    if "." not in member.path:
        return None
    return next((number for path in _outside(member) if (number := rows.get(path)) is not None), None)


def _outside(member: Member) -> Iterator[str]:
    """Yield the paths of what a member is inside of."""
    at = member.path.find(".")
    while at >= 0:
        yield member.path[:at]
        at = member.path.find(".", at + 1)


def _open(part: PatternTree, rows: _Rows) -> dict[str, set[str]]:
    """Return the paths that may be arrays of unknown rows, each with the paths of the values inside it."""
    found: dict[str, set[str]] = {}
    for member in members_of(part):
        if "." in member.path and member.of_values and _row(member, rows) is None:
            for outside in _outside(member):
                if outside not in rows:
                    found.setdefault(outside, set()).add(member.path)
    return found


def _shared(parts: Sequence[PatternTree], rows: _Rows) -> list[str]:
    """Return the outermost path that several parts lead through, and those inside it that all of them lead through."""
    counts: dict[str, int] = {}
    values: dict[str, set[str]] = {}
    for part in parts:
        for outside, paths in _open(part, rows).items():
            counts[outside] = counts.get(outside, 0) + 1
            values.setdefault(outside, set()).update(paths)
    several = sorted((outside for outside, count in counts.items() if count > 1), key=len)
    return [each for each in several if each == several[0] or values[each] == values[several[0]]]


def _connected(parts: Sequence[PatternTree], rows: _Rows) -> list[list[PatternTree]]:
    """Return the parts in groups, such that no array may be common to two groups."""
    groups: list[tuple[set[str], list[PatternTree]]] = []
    for part in parts:
        outside, together = set(_open(part, rows)), [part]
        apart = []
        for others, group in groups:
            if outside & others:
                outside, together = outside | others, [*group, *together]
            else:
                apart.append((others, group))
        groups = [*apart, (outside, together)]
    return [group for _, group in groups]
