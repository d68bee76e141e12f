"""Metrics of durable subscriptions under the names of the previous version, for `metrics: {old_names: true}`.

Law: this file is removed with the next version.
"""

from __future__ import annotations

from typing import Final

from tamis.router.admin.exposition import Exposition

_OLD: Final = (
    ("tamis_durables_unknown_ranges", "tamis_kept_doubts"),
    ("tamis_durables_consumers", "tamis_kept_members"),
    ("tamis_durables_", "tamis_kept_"),
    ("tamis_durables ", "tamis_kept_keeps "),
    ("tamis_durable_consumers", "tamis_keep_members"),
    ("tamis_durable_", "tamis_keep_"),
    ('{durable="', '{keep="'),
)
"""New beginnings of lines of a page, and the old ones, in the order in which they apply."""


def append_old(page: Exposition, durable: Exposition) -> None:
    """Append the lines of `durable` with the old names of metrics and labels."""
    text = str(durable)
    for new, old in _OLD:
        text = text.replace(new, old)
    page.append(text)
