"""R3: the newest version of each issuer, by which an advertisement is forwarded once.

Law: an advertisement is forwarded once, on all links but the one it came from, if it is fresher than all earlier ones
of its issuer, whether or not it can be applied here, and whatever other issuers advertise.
"""

from __future__ import annotations

from collections.abc import Collection

from tamis.router.core.statements.freshness import Version


class Flood:
    def __init__(self) -> None:
        self._newest: dict[int, Version] = {}

    def __len__(self) -> int:
        return len(self._newest)

    @property
    def issuers(self) -> Collection[int]:
        return self._newest.keys()

    def newest(self, issuer: int) -> Version | None:
        """Return the freshest version of `issuer` that was received, held or not; None: none was."""
        return self._newest.get(issuer)

    def is_fresh(self, issuer: int, version: Version) -> bool:
        """Return whether `version` is fresher than all earlier ones of `issuer`, and record it; true only once."""
        newest = self._newest.get(issuer)
        if newest is not None and newest >= version:
            return False
        self._newest[issuer] = version
        return True

    def forget(self, issuer: int) -> None:
        self._newest.pop(issuer, None)
