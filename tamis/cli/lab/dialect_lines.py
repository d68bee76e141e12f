"""Lines of JSON with filters and events of other systems."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from tamis.cli.lab.engines import Decider, new_decider
from tamis.cli.reach.events import read_json
from tamis.protocol import dialects
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.errors import DialectError, Refused
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.limits import ATTRIBUTES_MAX
from tamis.protocol.messages import check_attributes
from tamis.protocol.residual import Program
from tamis.protocol.values import Value


def translated(dialect: Dialect, form: object) -> Translated:
    """Return the translation of a filter that is a text, or JSON; Refused for a mistake in it."""
    try:
        return dialect.translate(form if isinstance(form, str) else json.dumps(form))
    except DialectError as error:
        raise Refused(str(error)) from None


class _DecidedFilter(NamedTuple):
    """The interface of filters, and what decides of a message that one of them matches; None if they are exact."""

    interface: Interface
    decides: Decider | None


class DialectLines:
    """The lines of `tamis match --dialect`.

    Law: the interfaces in the table of filters are handles: one for all exact filters of an interface, and one for each
    filter with a residual program, whose program is then the one to run.
    """

    def __init__(self, name: str, engine: str) -> None:
        self._dialect = dialects.get(name)
        self._engine = engine
        self._wanted: dict[Interface, _DecidedFilter] = {}
        self._exact: dict[Interface, int] = {}
        self._names: set[str] = set()
        """Of the attributes that filters use."""

    def table_line(self, line: str) -> tuple[Interface, tuple[Filter, ...]]:
        """Return the handle of a line, and filters of which one must match. A filter that is not decided is Refused,
        since its matches would be guesses."""
        form = read_json(line)
        interface = form.get("i") if isinstance(form, dict) and set(form) == {"i", "f"} else None
        if not isinstance(interface, int | str) or isinstance(interface, bool):
            raise Refused('a line is {"i": INTERFACE, "f": FILTER}, and an interface an integer or a string')
        found = translated(self._dialect, form["f"])
        if not found.decided:
            raise Refused(f"the predicate is wider than the filter, and no program decides: {'; '.join(found.needs)}")
        self._names.update(each.name for filter_ in found.predicate.filters for each in filter_.constraints)
        self._names.update(found.residual.names() if found.residual is not None else ())
        return self._handle(interface, found.residual), found.predicate.filters

    def event(self, line: str) -> dict[str, Value]:
        """Return the attributes of an event, or those that filters use, if there are too many. Refused for an event of
        which a message has a part only: its matches would be guesses."""
        forms = list(islice(self._dialect.forms(read_json(line)), 2))
        if len(forms) > 1:
            raise Refused("an array of the event has more elements than a message has of it")
        found = forms[0]
        if len(found) > ATTRIBUTES_MAX:
            found = {name: value for name, value in found.items() if name in self._names}
        return check_attributes(found)

    def interfaces(self, handles: Iterable[Interface], attributes: Mapping[str, Value]) -> set[Interface]:
        """Return the interfaces that want a message, of the handles that match it."""
        matched = [self._wanted[handle] for handle in handles]
        found = {interface for interface, decides in matched if decides is None}
        for interface, decides in matched:
            if interface not in found and decides is not None and decides(attributes):
                found.add(interface)
        return found

    def _handle(self, interface: Interface, residual: Program | None) -> int:
        handle = len(self._wanted)
        if residual is None:
            handle = self._exact.setdefault(interface, handle)
        decides = None if residual is None else new_decider(self._engine, residual)
        self._wanted.setdefault(handle, _DecidedFilter(interface, decides))
        return handle
