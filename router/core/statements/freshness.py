"""R2: the newer of two statements of one issuer.

Law: freshness is (epoch, seq), compared as a pair. Two statements of equal freshness are identical; otherwise their
issuer has made a mistake and must state something newer.
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class Version(NamedTuple):
    """The freshness of a statement."""

    epoch: int
    seq: int


class Verdict(enum.Enum):
    """The result of comparing a received statement with the held one."""

    NEWER = "newer"
    SAME = "identical"
    OLDER = "older"
    CONFLICT = "equally fresh, and different"


def judge(heard: Version, heard_digest: bytes, held: Version | None, held_digest: bytes) -> Verdict:
    """Compare a statement with the one held of its issuer; `held` None: none is held, and any statement is newer."""
    if held is None or heard > held:
        return Verdict.NEWER
    if heard < held:
        return Verdict.OLDER
    return Verdict.SAME if heard_digest == held_digest else Verdict.CONFLICT
