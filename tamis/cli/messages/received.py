"""The output formats of received messages.

    text       class="alert" severity=6              the payload on lines of its own below, if it is text
    json       {"id": ..., "attributes": {...}, "payload": "..."}; if durable, position and deliveries
    raw        the payload and a line break
    template   '{{severity}} {{device}}: {{.payload}}'      attributes by name, and .payload .id .time .attributes

Law: a missing value is written as an empty text; a message with invalid attributes is reported, and not written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from tamis.cli.tables import so_many
from tamis.client.durable.stored_message import Handed
from tamis.protocol.errors import Refused
from tamis.protocol.json_form import encode_publication
from tamis.protocol.message_text import format_attributes
from tamis.protocol.shown import shown

if TYPE_CHECKING:
    import tamis
    from tamis.protocol.values import Value

FORMS: Final = ("text", "json", "raw")
_PLACE = re.compile(r"\{\{\s*(.*?)\s*\}\}")

Writer = Callable[["tamis.Message"], bytes]


def writer(form: str, predicates: Mapping[int, str]) -> Writer:
    """Return a function that formats a message; Refused for an unknown format. `predicates` are the subscribed ones, by
    id."""
    if "{{" in form or "}}" in form:
        return _template(form)
    if form not in FORMS:
        raise Refused(f"--format is {', '.join(FORMS)} or a template such as '{{{{severity}}}} {{{{.payload}}}}'")
    if form == "json":
        return lambda message: _json(message, predicates)
    return _text if form == "text" else _raw


def gap_form(gap: tamis.Gap) -> dict[str, object]:
    """Return a Gap as JSON: `messages` and `bytes` are null if they are unknown, `span_s` if the messages are missing
    exactly here."""
    form = {"reason": gap.reason.name.lower(), "messages": gap.count, "bytes": gap.bytes}
    in_all = {} if gap.in_all is None else {"in_all": gap.in_all}
    positions = {} if gap.positions is None else {"positions": gap.positions}
    return {"gap": form | {"span_s": gap.span_s, "goes_on": gap.goes_on} | in_all | positions}


def gap_in_words(gap: tamis.Gap) -> str:
    many = "messages may be missing" if gap.count is None else f"{so_many(gap.count, 'message')} missing"
    when = f" of the last {gap.span_s:.1f} s" if gap.span_s is not None else ""
    where = f" at positions {gap.positions[0]} to {gap.positions[1]}" if gap.positions is not None else ""
    further = "; routers are unreachable, and messages published there will be missing" if gap.goes_on else ""
    return f"{many}{when}{where}: {gap.reason}{further}"


def _json(message: tamis.Message, predicates: Mapping[int, str]) -> bytes:
    form: dict[str, object] = {"id": _id(message)}
    if message.time is not None:
        form["time"] = message.time.isoformat()
    if message.own:
        form["own"] = True
    form["matched"] = [predicates[id_] for id_ in message.matched if id_ in predicates]
    if isinstance(message, Handed):
        form |= {"position": message.position, "deliveries": message.deliveries}
        form |= {name: True for name in ("replayed", "maybe_duplicate", "dead_letter") if getattr(message, name)}
    form |= encode_publication(message.attributes, message.payload)
    return json.dumps(form).encode() + b"\n"


def _text(message: tamis.Message) -> bytes:
    line = format_attributes(message.attributes).encode() + b"\n"
    return line + b"".join(b"    " + part + b"\n" for part in _shown(message.payload).splitlines())


def _shown(payload: bytes) -> bytes:
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return b"(%d bytes)" % len(payload)
    return payload if all(c.isprintable() or c in "\n\t" for c in text) else b"(%d bytes)" % len(payload)


def for_a_terminal(write: Writer) -> Writer:
    """Return a writer like `write` that escapes control characters for terminals."""
    return lambda message: shown(write(message).decode(errors="backslashreplace"), keep="\n\t").encode()


def _raw(message: tamis.Message) -> bytes:
    return message.payload + b"\n"


def _template(form: str) -> Writer:
    pieces = _PLACE.split(form)
    if any("{{" in piece or "}}" in piece for piece in pieces[::2]):
        raise Refused(f"--format {form!r}: a placeholder opens with {{{{ and closes with }}}}")
    for inside in pieces[1::2]:
        if not inside:
            raise Refused(f"--format {form!r}: a placeholder names an attribute or one of {', '.join(_OWN)}")
        if inside.startswith(".") and inside not in _OWN:
            raise Refused(f"template {{{{{inside}}}}}: no placeholder {inside}; use one of {', '.join(_OWN)}")
    places = [part.encode() if index % 2 == 0 else _place(part) for index, part in enumerate(pieces)]
    return lambda message: b"".join(p if isinstance(p, bytes) else p(message) for p in places) + b"\n"


def _place(inside: str) -> Writer:
    if inside in _OWN:
        return _OWN[inside]
    return lambda message: _value(message.attributes.get(inside, ""))


def _value(value: Value) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def _id(message: tamis.Message) -> str:
    return f"{message.id.origin:016x}-{message.id.counter}"


_OWN: Final[Mapping[str, Writer]] = {
    ".payload": lambda message: message.payload,
    ".id": lambda message: _id(message).encode(),
    ".time": lambda message: b"" if message.time is None else message.time.isoformat().encode(),
    ".attributes": lambda message: format_attributes(message.attributes).encode(),
}
