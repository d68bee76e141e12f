"""The reference page of the wire's numbers.

    python -m tamis.protocol.wire.reference > docs/reference/numbers.md

Law: everything on the page is printed from `register.py` and the enumerations that it names; a test compares the page
with them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tamis.protocol.wire.register import CAPABILITIES, REGISTERS, Register
from tamis.protocol.wire.versions import PROTOCOL_VERSION

_INTRO = f"""\
# The numbers of the wire

Every number of the wire, with the version that introduced it. The current version is {PROTOCOL_VERSION}; the layout of
frames is in [the wire](wire.md). Printed by `python -m tamis.protocol.wire.reference`; do not edit.

A number keeps its meaning for ever and is never assigned again. Numbers marked *reserved* are assigned to parts that
are designed and not built: they are not sent yet, a receiver treats them as unknown, and no other part may use them.
Their layout is decided when they come into use.

Receivers since version 3 skip the reserved kinds below 0x80 (0x2b, 0x2c); a reserved flag cannot be skipped. From
version 3 on, what is new is sent only to a peer with the capability for it.
"""


_CAPABILITIES = """\
## Capabilities

`capabilities` of HELLO and WELCOME: words, not numbers. A receiver ignores those that it does not know.

| word | meaning |
|---|---|
"""


def page() -> str:
    """Return the whole page as text."""
    return "\n".join([_INTRO, *(_section(register) for register in REGISTERS), _capabilities()])


def _capabilities() -> str:
    rows = [f"| `{row.word}`{'...' * row.is_prefix} | {row.text} |\n" for row in CAPABILITIES]
    return _CAPABILITIES + "".join(rows)


def _section(register: Register) -> str:
    rows = [f"| {shown} | {name} | {since} | {text} |" for shown, name, since, text in _rows(register)]
    head = ["| number | name | since | meaning |", "|---|---|---|---|"]
    return f"## {register.title}\n\n{register.where}\n\n" + "\n".join([*head, *rows]) + "\n"


def _rows(register: Register) -> Iterator[tuple[str, str, str, str]]:
    """Yield number, name, first version and meaning of each number, in use and reserved, by ascending number."""
    meanings = register.meanings
    used = [(int(m.value), str(m.name), f"{meanings[m.value].since}", meanings[m.value].text) for m in register.in_use]
    reserved = [(row.number, row.name, "reserved", row.text) for row in register.reserved]
    for number, name, since, text in sorted(used + reserved):
        yield register.shown(number), name, since, text


if __name__ == "__main__":
    sys.stdout.write(page())
