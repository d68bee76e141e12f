"""What a dialect is, and what a translation tells.

Law: the predicate of a translation is never narrower than the filter: whatever event the filter wants, the predicate
matches. Where `exact` is true it matches nothing else; elsewhere the residual decides. A filter is refused for what it
says, never for its size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tamis.protocol import limits
from tamis.protocol.dialects.events import fitted
from tamis.protocol.errors import DialectError, Refused
from tamis.protocol.filters import Predicate
from tamis.protocol.language.mistake import SyntaxMistake, check_unicode, refused
from tamis.protocol.messages import check_attributes, check_each
from tamis.protocol.residual import Program
from tamis.protocol.values import Value


@dataclass(frozen=True, slots=True)
class Translated:
    predicate: Predicate
    """In normal form. It matches every event that the filter wants."""
    needs: tuple[str, ...] = ()
    """What the predicate leaves undecided, in words: one phrase for each part of the filter. Empty if it is exact."""
    warnings: tuple[str, ...] = ()
    residual: Program | None = None
    """Decides, of an event that the predicate matches, whether the filter wants it: TRUE of those alone. None if the
    predicate is exact, or no program is large enough for the filter."""

    indexed: Predicate | None = None
    """With a residual, a predicate for the index of a router alone: it is no wider, and has conditions on folded texts
    (folding.py). None if there is none."""

    @property
    def exact(self) -> bool:
        """Whether the predicate matches only what the filter wants."""
        return not self.needs

    @property
    def decided(self) -> bool:
        """Whether predicate and residual together want what the filter wants."""
        return self.exact or self.residual is not None


@dataclass(frozen=True, slots=True)
class Dialect:
    name: str
    title: str
    """The system that the filters are of, for people."""
    read: Callable[[str], Translated]
    """Translate a text, or raise a SyntaxMistake."""
    flatten: Callable[[Any], dict[str, Value]]
    """Return an event's attributes by the conventions of its system; Refused for one that is none of it. They may be
    more than those of a message."""
    windows: Callable[[Any], Iterable[dict[str, Value]]] | None = None
    """Yield forms of an event, of which a filter wants one exactly if it wants the event; None: `flatten` gives the
    only one."""

    def translate(self, text: str) -> Translated:
        """Return the predicate of a filter; DialectError with its line and column if it is none."""
        try:
            size = check_unicode(text)
            if size > limits.PREDICATE_BYTES_MAX:
                problem = f"a filter has at most {limits.PREDICATE_BYTES_MAX} bytes of UTF-8, this one has {size}"
                raise SyntaxMistake(0, problem)
            return self.read(text)
        except SyntaxMistake as mistake:
            raise refused(DialectError, text, mistake) from None

    def exactly(self, text: str) -> Predicate:
        """Return the predicate of a filter that is exact. DialectError as `translate`; Refused if the predicate is
        wider than the filter."""
        found = self.translate(text)
        if not found.exact:
            raise Refused(f"a predicate cannot say all of this filter of {self.name}: {_undecided(found)}")
        return found.predicate

    def decided(self, text: str) -> Translated:
        """Return the translation of a filter that predicate and residual decide. DialectError as `translate`; Refused
        if they do not."""
        found = self.translate(text)
        if not found.decided:
            raise Refused(
                f"no predicate and no residual program can say all of this filter of {self.name}: {_undecided(found)}"
            )
        return found

    def attributes(
        self,
        event: Any,  # noqa: ANN401 - as its system writes events
        wanted: Collection[str] = (),
    ) -> Mapping[str, Value]:
        """Return the attributes that a gateway gives to an event; Refused for one that is none. If a message has no
        room for all of them, those of a name in `wanted` (which filters use) come first, and the attribute `left-out`
        is the number of values that were left out."""
        return check_attributes(fitted(self.flatten(event), wanted, limits.ATTRIBUTES_MAX))

    def forms(self, event: Any) -> Iterator[dict[str, Value]]:  # noqa: ANN401 - as its system writes events
        """Yield whole forms of an event: a filter wants the event exactly if it wants one of them."""
        yield from map(check_each, [self.flatten(event)] if self.windows is None else self.windows(event))


def _undecided(found: Translated) -> str:
    return f"not decided are {'; '.join(found.needs)}"
