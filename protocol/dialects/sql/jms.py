"""Message selectors of JMS: `price > 10 AND symbol LIKE 'A%' AND region IS NOT NULL`.

Law: a test of values of different kinds is false, `<>` included. Texts and booleans are compared by = and <> alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.rails import ALWAYS
from tamis.protocol.dialects.sql.conditions import translation
from tamis.protocol.dialects.sql.rules import SqlRules, Unlike
from tamis.protocol.dialects.sql.selector import GRAMMAR
from tamis.protocol.dialects.widen import within_limits
from tamis.protocol.errors import Refused
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import Value

RULES: Final = SqlRules(
    unlike=Unlike.FALSE,
    are_texts_ordered=False,
    is_like_unknown=False,
    are_quotients_cut=True,
    escapes_all=False,
)
_EXTENSIONS: Final = {
    "xpath": ("`XPATH` reads the body of a message, and predicates its attributes alone", "publish what it reads"),
    "xquery": ("`XQUERY` reads the body of a message, and predicates its attributes alone", "publish what it reads"),
    "convert_string_expressions:": ("texts are not converted to numbers", "publish numbers, and leave the prefix away"),
    "hyphenated_props:": ("names with hyphens are not read", "publish names with `_`, and leave the prefix away"),
}
_EXTENSION: Final = re.compile(
    r"\s*((?:xpath|xquery)(?=\s*')|convert_string_expressions:|hyphenated_props:)", re.IGNORECASE
)


def translate(text: str) -> Translated:
    if not text.strip():
        return within_limits(ALWAYS)
    if extension := _EXTENSION.match(text):
        problem, hint = _EXTENSIONS[extension[1].lower()]
        raise SyntaxMistake(extension.start(1), f"{problem} (an extension of ActiveMQ)", hint)
    return translation(text, GRAMMAR.parse(text), RULES)


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the header fields and properties of a message; null is absent."""
    if not isinstance(event, Mapping):
        raise Refused("an event is an object of header fields and properties")
    return {name: value for name, value in event.items() if value is not None}


DIALECT: Final = Dialect("jms", "message selectors of JMS", translate, attributes)
