"""Lines of JSON with filters and events of other systems."""

from __future__ import annotations

import json
from typing import Any

from tamis.protocol import dialects
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.errors import DialectError, Refused
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.values import Value


def read(line: str) -> Any:  # noqa: ANN401 - whatever the line holds
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {error}") from None


def translated(dialect: Dialect, form: object) -> Translated:
    """Return the translation of a filter that is a text, or JSON; Refused for a mistake in it."""
    try:
        return dialect.translate(form if isinstance(form, str) else json.dumps(form))
    except DialectError as error:
        raise Refused(str(error)) from None


class DialectLines:
    """The lines of `tamis match --dialect`."""

    def __init__(self, name: str) -> None:
        self._dialect = dialects.get(name)

    def table_line(self, line: str) -> tuple[Interface, tuple[Filter, ...]]:
        """Return the interface of a line, and filters of which one must match. A filter whose predicate is wider is
        Refused, since its matches would be guesses."""
        form = read(line)
        interface = form.get("i") if isinstance(form, dict) and set(form) == {"i", "f"} else None
        if not isinstance(interface, int | str) or isinstance(interface, bool):
            raise Refused('a line is {"i": INTERFACE, "f": FILTER}, and an interface an integer or a string')
        found = translated(self._dialect, form["f"])
        if not found.exact:
            raise Refused(f"the predicate is wider than the filter: not decided are {'; '.join(found.needs)}")
        return interface, found.predicate.filters

    def event(self, line: str) -> dict[str, Value]:
        return dict(self._dialect.attributes(read(line)))
