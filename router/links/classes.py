"""The classes of messages of a topology file, as the core and the switch need them.

Law: both have them in the order of the file, followed by the class of all other messages.
"""

from __future__ import annotations

from typing import Final

from tamis.configs.settings import RouterSettings
from tamis.native.switch import Switch
from tamis.native.table import Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.language import parse
from tamis.protocol.normal import normalize_predicate
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.core.routing.roots import REST, RootChoice

OF_A_SPACE: Final = "space"
TABLE_BYTES_MAX: Final = 16 * 1_048_576
"""The most bytes of the table that finds a message's class. It is filled once, at the start."""


def classes_of(settings: RouterSettings) -> tuple[RootChoice, ...]:
    """Return the classes of the network's strategy; none if it has no roots."""
    strategy = settings.strategy
    if not strategy.facts.has_roots:
        return ()
    choices = [
        RootChoice(name, _numbers(strategy.roots.get(name, ())), _filters(name, text, settings.spaces.naming))
        for name, text in strategy.classes.items()
    ]
    return (*choices, RootChoice(REST, _numbers(strategy.others)))


def _numbers(ids: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(map(stable_number, ids))


def _filters(name: str, text: str, naming: str) -> tuple[bytes, ...]:
    if text == OF_A_SPACE:
        return (encode_filter(Filter((Constraint(naming, Op.EQ, (name,)),))),)
    return tuple(map(encode_filter, normalize_predicate(parse(text)).filters))


def classify(switch: Switch, classes: tuple[RootChoice, ...]) -> Table | None:
    """Let the switch find the class of each message that enters; return the table for it, which the caller closes after
    the switch. None: there are no classes."""
    if not classes:
        return None
    table = Table(memory_bytes_max=TABLE_BYTES_MAX)
    for number, choice in enumerate(classes[:-1]):
        for packed in choice.filters:
            table.add(packed, number)
    switch.classify(table, len(classes) - 1)
    return table
