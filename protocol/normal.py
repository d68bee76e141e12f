"""The normal form of filters: filters of equal meaning become equal objects, contradictions are refused with their
reason.

Law: a normal form admits exactly the messages of the filter it came from, and is its own normal form. Attributes are
independent, so each is written from its region (`_regions.py`) alone, which is why the order and the wording of the
original leave no trace. Two different forms may still have equal meaning by a coincidence of patterns that is not
detected (`> "a"` and `>= "a"` beside `suffix "b"`); this costs a table entry, never a message.

The written form of a region:

    values       `=`, or `in` from two on
    one kind     its bounds (both closed: `between`; all strings of a prefix: `prefix`) and patterns, then what is
                 left out: one value as `!=`, more as `not in`; if nothing else names the kind, `prefix ""` or `>=` the
                 lowest number
    no value     `not exists`
    otherwise    `exists` if the attribute must be there, and all that is left out as negated constraints
"""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from tamis.protocol import _intervals as intervals
from tamis.protocol import limits
from tamis.protocol._intervals import ALL_STRINGS, LOWEST_NUMBER, Interval
from tamis.protocol._regions import UNIVERSE, Broad, Finite, OrderedPart, Region, region_of
from tamis.protocol.errors import NeverMatches
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.shown import shown
from tamis.protocol.values import Value, ValueKind, identity, kind_of

Phrase = tuple[Op, tuple[Value, ...]]
"""A constraint without its name and sign."""

_identity = operator.attrgetter("identity")
_NOTHING_ELSE = Broad(absent=True)
_OPPOSITE = {Op.LT: Op.GE, Op.GE: Op.LT, Op.GT: Op.LE, Op.LE: Op.GT}
_ANY_OF_KIND: dict[ValueKind, Phrase] = {
    ValueKind.NUMBER: (Op.GE, (LOWEST_NUMBER,)),
    ValueKind.STRING: (Op.PREFIX, ("",)),
}


_KNOWN_FORMS_MAX = 1_024
"""Normal forms of single constraints kept in a cache. With the longest operands they take some 3 MB."""


def normalize(filter_: Filter) -> Filter:
    """Return the normal form of `filter_`; NeverMatches, with the reason, if it has none."""
    written: list[Constraint] = []
    for constraints in _by_name(filter_.constraints):
        written += _form_of(constraints)
    if len(written) > limits.CONSTRAINTS_MAX:
        # Only a filter near the limit with a `not in` of both kinds of extremes on many attributes gets here.
        written = list(set(filter_.constraints))
    return Filter(tuple(sorted(written, key=_identity) if len(written) > 1 else written))


def normalize_all(conjunctions: Sequence[Sequence[Constraint]]) -> tuple[Filter, ...]:
    """Return the normal forms of conjunctions, without repetitions; NeverMatches if one has none. What several of them
    say of an attribute is written once."""
    if len(conjunctions) == 1:
        return (normalize(Filter(tuple(conjunctions[0]))),)
    known: dict[tuple[int, ...], _Written] = {}
    found: dict[tuple[object, ...], _Written] = {}
    for constraints in conjunctions:
        written = _written(constraints, known)
        found.setdefault(tuple([identity for identity, _ in written]), written)
    return tuple([Filter(tuple([constraint for _, constraint in written])) for written in found.values()])


_Written = list[tuple[tuple[object, ...], Constraint]]
"""Constraints of a normal form, each behind its identity."""


def _written(constraints: Sequence[Constraint], known: dict[tuple[int, ...], _Written]) -> _Written:
    """Return the normal form of a conjunction. `known` has that of constraints on one attribute by their ids."""
    written: _Written = []
    for group in _by_name(constraints):
        key = tuple(map(id, group))
        if key not in known:
            known[key] = _identified(_form_of(group))
        written += known[key]
    if len(written) > limits.CONSTRAINTS_MAX:
        return _identified(normalize(Filter(tuple(constraints))).constraints)
    return sorted(written, key=operator.itemgetter(0))


def _identified(constraints: Iterable[Constraint]) -> _Written:
    return [(constraint.identity, constraint) for constraint in constraints]


def normalize_predicate(predicate: Predicate) -> Predicate:
    """Return the predicate's filters in normal form, in their order, without repetitions and without those that never
    match."""
    kept: dict[Filter, None] = {}
    for filter_ in predicate.filters:
        try:
            kept[normalize(filter_)] = None
        except NeverMatches:
            continue
    return Predicate(tuple(kept))


def regions_of(filter_: Filter) -> dict[str, Region]:
    """Return the region of each attribute that the filter restricts."""
    regions = {constraints[0].name: _region(constraints) for constraints in _by_name(filter_.constraints)}
    return {name: region for name, region in regions.items() if region != UNIVERSE}


def _by_name(constraints: Iterable[Constraint]) -> Collection[list[Constraint]]:
    found: dict[str, list[Constraint]] = {}
    for constraint in constraints:
        if constraint.name in found:
            found[constraint.name].append(constraint)
        else:
            found[constraint.name] = [constraint]
    return found.values()


def _region(constraints: list[Constraint]) -> Region:
    """Return the region of all constraints on one attribute; NeverMatches, with the reason, if it is empty."""
    region = region_of(constraints)
    if region is None:
        raise NeverMatches(_reason(constraints))
    return region


def _form_of(constraints: list[Constraint]) -> Sequence[Constraint]:
    """Return the normal form of all constraints on one attribute; NeverMatches, with the reason, if it has none."""
    first = constraints[0]
    if len(constraints) == 1 and _is_normal(first):
        return constraints
    if len(constraints) > 1 or len(first.operands) > 1:
        return _spelled(first.name, _region(constraints))
    form = _form_of_one(first.op, first.negated, *first.operands)
    if form is None:
        raise NeverMatches(_reason(constraints))
    return [each.renamed(first.name) for each in form]


def _is_normal(constraint: Constraint) -> bool:
    """Return whether a constraint that stands alone on its attribute is certainly its own normal form."""
    op, operands = constraint.op, constraint.operands
    if op is Op.EXISTS:
        return True
    if constraint.negated:
        return False
    if op is Op.EQ or op is Op.PREFIX:
        return True
    return len(operands) > 1 if op is Op.IN else op in (Op.SUFFIX, Op.CONTAINS) and operands != ("",)


@lru_cache(maxsize=_KNOWN_FORMS_MAX, typed=True)  # typed: 1 == True
def _form_of_one(op: Op, negated: bool, *operands: Value) -> Sequence[Constraint] | None:
    """Return the normal form of a constraint on some attribute; None if nothing satisfies it."""
    region = region_of([Constraint("any", op, operands, negated)])
    return None if region is None else _spelled("any", region)


def _spelled(name: str, region: Region) -> Sequence[Constraint]:
    return () if region == UNIVERSE else spell_region(name, region)


def spell_region(name: str, region: Region) -> list[Constraint]:
    if isinstance(region, Finite):
        values = tuple(region.values.values())
        return [Constraint(name, Op.EQ if len(values) == 1 else Op.IN, values)]
    if region.only_part is not None:
        return list(_spell_part(name, region.only_part))
    if region == _NOTHING_ELSE:
        return [Constraint(name, Op.EXISTS, (), negated=True)]
    left_out = list(_spell_left_out(name, region))
    return left_out if region.absent else [Constraint(name, Op.EXISTS), *left_out]


# --- one kind, in positive constraints -------------------------------------------------------------------------


def _spell_part(name: str, part: OrderedPart) -> Iterator[Constraint]:
    interval = part.interval
    if interval.low == "\0" and part.excludes_empty_text:
        interval = Interval("", interval.high)  # the patterns imply it
    phrases = _bounds(interval)
    phrases += [(Op.SUFFIX, (part.suffix,))] if part.suffix else []
    phrases += [(Op.CONTAINS, (piece,)) for piece in part.contains]
    points = [hole.low for hole in part.holes if hole.is_single]
    if points and (len(points) == 1 or not phrases):
        phrases.append((Op.NE, (points.pop(0),)))
        # Beside one `!=`, a second one reads better than a list of one.
        phrases += [(Op.NE, (points.pop(),))] if len(points) == 1 else []
    for op, operands in phrases or [_ANY_OF_KIND[kind_of(part.interval.low)]]:
        yield Constraint(name, op, operands)
    yield from _negated(name, [*_values(points), *_wide_holes(part), *_ruled_out(part)])


def _bounds(interval: Interval) -> list[Phrase]:
    """Return the constraints that express `interval`: one if one suffices, else its lower and upper bound; none if it
    has no bound."""
    low, high = interval.low, interval.high
    if isinstance(low, str) and interval != ALL_STRINGS and _is_prefix(interval):
        return [(Op.PREFIX, (low,))]
    lower = [_lower_bound(low)] if low != intervals.lowest_like(low) else []
    if high is None:
        return lower
    upper = _shared_prefix(str(low), high) if isinstance(high, str) else None
    upper = upper or _upper_bound(high)
    if lower and lower[0][0] is Op.GE and upper[0] is Op.LE:
        return [(Op.BETWEEN, lower[0][1] + upper[1])]
    return [*lower, upper]


def _is_prefix(interval: Interval) -> bool:
    low = str(interval.low)
    return interval == intervals.starting_with(low) and len(low.encode()) <= limits.PATTERN_BYTES_MAX


def _shared_prefix(low: str, high: str) -> Phrase | None:
    """Return the prefix whose strings end at `high`, if all strings from `low` on share it: `prefix "ab"` beside `>
    "abc"`."""
    prefix = intervals.prefix_before(high)
    if prefix is None or not low.startswith(prefix) or len(prefix.encode()) > limits.PATTERN_BYTES_MAX:
        return None
    return (Op.PREFIX, (prefix,))


def _lower_bound(low: Value) -> Phrase:
    """Return the lower bound as `>=` or `>`, whichever has the shorter operand."""
    if isinstance(low, str):
        return (Op.GT, (low[:-1],)) if low.endswith("\0") else (Op.GE, (low,))
    before = intervals.predecessor(low)
    return (Op.GT, (before,)) if _length(before) < _length(low) else (Op.GE, (low,))


def _upper_bound(high: Value) -> Phrase:
    """Return the upper bound as `<=` or `<`, whichever has the shorter operand."""
    if isinstance(high, str):
        return (Op.LE, (high[:-1],)) if high.endswith("\0") else (Op.LT, (high,))
    last = intervals.predecessor(high)
    return (Op.LT, (high,)) if _length(high) < _length(last) else (Op.LE, (last,))


def _length(number: float) -> tuple[bool, int]:
    """Return a sort key: integers before floats, then by the length of their text."""
    return (isinstance(number, float), len(repr(number)))


# --- exclusions, in negated constraints ------------------------------------------------------------------------


def _spell_left_out(name: str, region: Broad) -> Iterator[Constraint]:
    points: list[Value] = sorted({False, True} - region.booleans)
    phrases: list[Phrase] = []
    for kind in (ValueKind.NUMBER, ValueKind.STRING):
        part = region.part(kind)
        if part is None:
            phrases.append(_ANY_OF_KIND[kind])
        elif part.interval.is_single:
            phrases.append((Op.NE, (part.interval.low,)))
        else:
            outside = list(_outside(part.interval))
            points += [cut.low for cut, _ in outside if cut.is_single]
            points += [hole.low for hole in part.holes if hole.is_single]
            phrases += [phrase for cut, phrase in outside if not cut.is_single]
            phrases += [*_wide_holes(part), *_ruled_out(part)]
    yield from _negated(name, [*_values(points), *phrases])


def _outside(interval: Interval) -> Iterator[tuple[Interval, Phrase]]:
    """Yield the parts below and above `interval`, each with the constraint that expresses it."""
    low, high = interval.low, interval.high
    lowest = intervals.lowest_like(low)
    if low != lowest:
        op, operands = _lower_bound(low)
        yield Interval(lowest, low), (_OPPOSITE[op], operands)
    if high is not None:
        op, operands = _upper_bound(high)
        yield Interval(high), (_OPPOSITE[op], operands)


def _values(points: list[Value]) -> Iterator[Phrase]:
    points = sorted(points, key=identity)
    for at in range(0, len(points), limits.IN_VALUES_MAX):
        chunk = tuple(points[at : at + limits.IN_VALUES_MAX])
        yield (Op.EQ if len(chunk) == 1 else Op.IN, chunk)


def _wide_holes(part: OrderedPart) -> Iterator[Phrase]:
    """Yield the constraints for holes of more than one value: they came from `not prefix` and `not between`."""
    for hole in part.holes:
        if hole.is_single:
            continue
        if isinstance(hole.low, str) and _is_prefix(hole):
            yield (Op.PREFIX, (hole.low,))
        else:
            yield (Op.BETWEEN, (hole.low, _last(hole)))


def _last(hole: Interval) -> Value:
    if isinstance(hole.high, str):
        return hole.high[:-1]
    return intervals.HIGHEST_NUMBER if hole.high is None else intervals.predecessor(hole.high)


def _ruled_out(part: OrderedPart) -> Iterator[Phrase]:
    yield from ((Op.SUFFIX, (suffix,)) for suffix in part.not_suffixes)
    yield from ((Op.CONTAINS, (piece,)) for piece in part.not_contains)


def _negated(name: str, phrases: Iterable[Phrase]) -> Iterator[Constraint]:
    return (Constraint(name, op, operands, negated=True) for op, operands in phrases)


# --- reasons ---------------------------------------------------------------------------------------------------


def _reason(constraints: list[Constraint]) -> str:
    """Return a sentence with the fewest constraints that contradict each other; up to three are tried together."""
    for size, never in ((1, "can never hold"), (2, "can never both hold"), (3, "can never all hold")):
        for chosen in itertools.combinations(constraints, size):
            if region_of(chosen) is None:
                return f"{_listed(chosen)} {never}"
    return f"{_listed(constraints)} can never all hold"


def _listed(constraints: Iterable[Constraint]) -> str:
    return shown(" and ".join(_text(constraint) for constraint in constraints))


def _text(constraint: Constraint) -> str:
    operands = [json.dumps(value, ensure_ascii=False) for value in constraint.operands]
    if constraint.op is Op.EXISTS:
        text = f"exists {constraint.name}"
    elif constraint.op is Op.IN:
        text = f"{constraint.name} in {{{', '.join(operands)}}}"
    else:
        text = f"{constraint.name} {constraint.op.value} {' and '.join(operands)}"
    text = text if len(text) <= 80 else f"{text[:77]}..."
    return f"not ({text})" if constraint.negated else text
