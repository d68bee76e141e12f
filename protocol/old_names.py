"""Names of the previous version: fields of JSON are written under both, attributes are read with a warning.

Law: this file is removed with the next version, which has the new names alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping


def with_old(form: Mapping[str, object], **new_by_old: str) -> dict[str, object]:
    """Return `form` with its fields also under their old names: `with_old(form, keep="durable")`."""
    return {**form, **{old: form[new] for old, new in new_by_old.items() if new in form}}


def warn(old: str, new: str) -> None:
    """Warn the caller of the function that calls this one."""
    warnings.warn(f"{old} is now {new}; the next version removes the old name", DeprecationWarning, stacklevel=3)


class OldReport:
    """The old names of fields of a report about a message."""

    __slots__ = ()
    durables: tuple[str, ...]
    durable_count: int

    @property
    def keeps(self) -> tuple[str, ...]:
        warn("keeps", "durables")
        return self.durables

    @property
    def keep_count(self) -> int:
        warn("keep_count", "durable_count")
        return self.durable_count
