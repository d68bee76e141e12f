"""An archive of Spark's classes in the user's cache, which Java writes after a first analysis and starts from later.

Law: an archive is for one Java and one Spark, and Java checks whether it matches and is valid; if it is not, or is
being written, Spark starts without it. Java writes it when it ends, after the answers are complete, and its head last,
so a truncated archive has no head: it is written again after a while. Java does not start at all from an archive that
lost its end later: `forget` removes it. There are at most KEPT archives.
"""

from __future__ import annotations

import os
import time
from hashlib import sha256
from pathlib import Path
from typing import Final

import pyspark

from tamis.analysis.spark.java import runtime

SWITCH: Final = "TAMIS_SPARK_ARCHIVE"
"""Environment variable: `no` neither writes nor uses an archive, which takes some 190 MB."""
KEPT: Final = 2
WRITING_S: Final = 600.0
"""The longest time for which a file without a head counts as being written."""
_USES: Final = "-XX:SharedArchiveFile="
_SILENT: Final = "-Xlog:disable"
"""Suppresses Java's report on each class that cannot be archived."""


def java_options() -> str:
    """Return the options with which Java starts from the archive, or writes it at its end, or none of them."""
    if os.environ.get(SWITCH) == "no":
        return ""
    archive = _folder() / f"spark-{_number()}.jsa"
    if any(mark in str(archive) for mark in " \"'\\"):
        return ""  # Spark would split such a path
    try:
        if _is_whole(archive):
            return f"{_USES}{archive} -XX:+VerifySharedSpaces {_SILENT}"
        if archive.exists() and time.time() - archive.stat().st_mtime < WRITING_S:
            return ""
        _make_room(archive)
    except OSError:
        return ""
    return f"-XX:ArchiveClassesAtExit={archive} {_SILENT}"


def forget(options: str) -> bool:
    """Remove the archive in `options`, from which Java did not start; return False if there was none."""
    used = [Path(word.removeprefix(_USES)) for word in options.split() if word.startswith(_USES)]
    for archive in used:
        archive.unlink(missing_ok=True)
    return bool(used)


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tamis"


def _number() -> str:
    """Return a number that differs for another Java, another Spark, or the same Spark at another place."""
    return sha256(f"{runtime()}\n{pyspark.__version__}\n{pyspark.__file__}".encode()).hexdigest()[:16]


def _is_whole(archive: Path) -> bool:
    """Return whether `archive` is there and has its head."""
    if not archive.exists():
        return False
    with archive.open("rb") as file:
        return any(file.read(4))


def _make_room(archive: Path) -> None:
    """Make the folder for `archive`, and remove it and all others but the newest."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.unlink(missing_ok=True)
    others = sorted(archive.parent.glob("spark-*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in others[KEPT - 1 :]:
        old.unlink(missing_ok=True)
