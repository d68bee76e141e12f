"""The C behind Tamis, checked.

Law: only this package touches `ffi`; what it hands out are Python values. `results` alone turns result codes into
exceptions. A module here keeps alive whatever C borrows from it, and frees what C gave it.
"""

from __future__ import annotations

from tamis.native.attributes import decode_attributes
from tamis.native.batch import Batch
from tamis.native.interface_names import InterfaceNames
from tamis.native.results import OutOfMemory, check
from tamis.native.table import InterfaceKind, Measurement, Table, TableStats

__all__ = [
    "Batch",
    "InterfaceKind",
    "InterfaceNames",
    "Measurement",
    "OutOfMemory",
    "Table",
    "TableStats",
    "check",
    "decode_attributes",
]
