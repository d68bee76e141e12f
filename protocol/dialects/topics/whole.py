"""What a filter of topics means for the whole text of a topic, where its levels are more than have attributes.

    a/+/c     topic like "a/%/c" and not topic like "%/%/%/%"
    a.#.b.#   key like "a.b" or key like "a.b.%" or key like "a.%.b" or key like "a.%.b.%"

Law: the predicate holds as well. A text with as many separators as the pattern has none left for its wildcards, so each
of these is one level. Where any number of levels may stand, the other wildcards must stand beside them, or the
predicate must compare all texts, so that their number alone is left.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tamis.protocol.dialects.decide import globbed, program_of, widened
from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.dialects.patterns import Piece, Wild, glob_of, pieces_of
from tamis.protocol.dialects.topics.levels import LEVELS_MAX
from tamis.protocol.language.tree import Constant, Junction, Nested, Node
from tamis.protocol.limits import OPERAND_BYTES_MAX

_OPEN_MAX: Final = 4
"""Places with any number of levels; each of them doubles the patterns."""


def decided(found: Translated, name: str, parts: Sequence[Piece], separator: str) -> Translated:
    """Return a translation that is wider with the program that decides it, if there is one. Of `parts`, the levels of
    the filter, Wild.ONE is one level and Wild.ANY any number."""
    node = meant(name, parts, separator)
    return found if found.exact or node is None else replace(found, residual=program_of(node))


def meant(name: str, parts: Sequence[Piece], separator: str) -> Node | None:
    """Return what the filter means for the attribute that has the whole topic, where the predicate holds; None if no
    program can say it."""
    if len(separator.join("+" if isinstance(part, Wild) else part for part in parts).encode()) > OPERAND_BYTES_MAX:
        return None
    if Wild.ANY not in parts:
        more = _like(name, [Wild.ANY] * (len(parts) + 1), separator)
        return Junction((_like(name, parts, separator), Nested(more, True, 0)), True, 0)
    if parts.count(Wild.ANY) == 1 and _have_attributes(parts):
        return _like(name, [Wild.ANY] * (len(parts) - 1), separator)
    choices = list(_choices(parts))
    if [] in choices or sum(len(each) > 1 for each in choices) > _OPEN_MAX:
        return None
    written = ([part for choice in chosen for part in choice] for chosen in itertools.product(*choices))
    return Junction(tuple(_like(name, each, separator) for each in written if each not in ([], [""])), False, 0)


def _have_attributes(parts: Sequence[Piece]) -> bool:
    """Whether the predicate compares every text, so that their number is left."""
    head = parts.index(Wild.ANY)
    from_end = len(parts) - LEVELS_MAX
    return all(
        isinstance(part, Wild) or at < min(head, LEVELS_MAX) or at >= max(head, from_end)
        for at, part in enumerate(parts)
    )


def _choices(parts: Sequence[Piece]) -> Iterator[list[list[Piece]]]:
    """Yield what may stand for each text and each run of wildcards: no choice for one that must be counted."""
    for is_wild, run in itertools.groupby(parts, lambda part: isinstance(part, Wild)):
        levels = list(run)
        if not is_wild:
            yield [levels]
        elif Wild.ANY not in levels:
            yield []
        else:
            least: list[Piece] = [level for level in levels if level is Wild.ONE]
            yield [least] if least else [[], [Wild.ANY]]


def _like(name: str, parts: Sequence[Piece], separator: str) -> Node:
    texts = [Wild.ANY if isinstance(part, Wild) else part for part in parts]
    pieces = pieces_of(piece for text in texts for piece in (separator, text))
    first, *rest = pieces
    start = str(first)[len(separator) :]
    return widened(Constant(True, 0), globbed(name, glob_of([start, *rest])))
