"""Python interface to the C of Tamis.

Law: only this package uses `ffi`; it returns Python values. `results` and `log` convert result codes into exceptions. A
module keeps alive the objects that C borrows from it, and frees those that C has made for it.
"""

from __future__ import annotations

from tamis.native.attributes import decode_attributes
from tamis.native.batch import Batch
from tamis.native.engines import (
    DEFAULT_ENGINE,
    ENGINES,
    Engine,
    EngineOption,
    engine_spelled,
    engines_listed,
    engines_with,
)
from tamis.native.interface_names import InterfaceNames
from tamis.native.others import bad_filters
from tamis.native.query import Mode
from tamis.native.records import RecordRing
from tamis.native.results import Gone, OutOfMemory, TooCostly, check
from tamis.native.subscribe_frame import RefusedFilter, SubscribeFrame
from tamis.native.switch import Switch
from tamis.native.switch_figures import ConnectionFigures, Increment, SubscriberFigures, SwitchFigures
from tamis.native.switch_values import (
    Admission,
    Bug,
    ClockOffset,
    EventType,
    SlowPolicy,
    Step,
    Subscribed,
    SwitchEvent,
    SwitchOptions,
)
from tamis.native.table import InterfaceKind, Measurement, Table, TableStats
from tamis.native.traces import Trace
from tamis.native.unmatched import UnmatchedMessage, keep_unmatched, unmatched

__all__ = [
    "DEFAULT_ENGINE",
    "ENGINES",
    "Admission",
    "Batch",
    "Bug",
    "ClockOffset",
    "ConnectionFigures",
    "Engine",
    "EngineOption",
    "SwitchEvent",
    "EventType",
    "Gone",
    "Increment",
    "InterfaceKind",
    "InterfaceNames",
    "Measurement",
    "Mode",
    "OutOfMemory",
    "RecordRing",
    "RefusedFilter",
    "SlowPolicy",
    "Step",
    "SubscribeFrame",
    "Subscribed",
    "SubscriberFigures",
    "Switch",
    "SwitchFigures",
    "SwitchOptions",
    "Table",
    "TableStats",
    "TooCostly",
    "Trace",
    "UnmatchedMessage",
    "bad_filters",
    "check",
    "decode_attributes",
    "engine_spelled",
    "engines_listed",
    "engines_with",
    "keep_unmatched",
    "unmatched",
]
