"""Deliberate faults of deliveries, which test whether the audit of the records finds them.

    TAMIS_PLANT_BUG=drop:1000 tamis router ...        each 1,000th delivery; or twice:N, astray:N

Law: this is for tests only. The variable is read once at the start, and without it there are no faults; with it, the
log reports it at once and lists each faulty delivery.
"""

from __future__ import annotations

import logging
import os
from typing import Final

from tamis.native.switch import Switch
from tamis.native.switch_values import Bug, SwitchEvent
from tamis.protocol.wire.header import HEADER
from tamis.router.daemon.logs import fields
from tamis.serving.cannot_start import CannotStart

VARIABLE: Final = "TAMIS_PLANT_BUG"
SENTENCE: Final = "a delivery was falsified on purpose"

_log = logging.getLogger(__name__)


def plant(switch: Switch) -> None:
    """Enable the fault that the variable names in `switch`; CannotStart if there is no such fault."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return
    name, _, every = text.partition(":")
    if name.upper() not in Bug.__members__ or not every.isdigit() or int(every) == 0:
        raise CannotStart(f"{VARIABLE} must be drop:N, twice:N or astray:N, not {text!r}")
    switch.plant(Bug[name.upper()], int(every))
    _log.error("A BUG IS PLANTED: THIS ROUTER FALSIFIES DELIVERIES ON PURPOSE", extra=fields(bug=text))


def tell(event: SwitchEvent) -> None:
    """Log a faulty delivery; `went_to` is the connection for which it was meant, unless it went astray."""
    *_, origin, number, _, _, _, _ = HEADER.unpack(event.frame)
    _log.warning(
        SENTENCE, extra=fields(origin=f"{origin:016x}", number=number, connection=event.connection, went_to=event.code)
    )
