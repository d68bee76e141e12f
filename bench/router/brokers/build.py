"""Compiles the load generator and the plain forwarder when their sources are newer than what is there.

Law: the same flags for both, and none that would bind them to this machine's processor.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tamis.protocol.errors import TamisError

HERE = Path(__file__).parent
BUILT = HERE / "build"
_FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]
_SHARED_WITH_FORWARDER = ("buffer.c", "fail.c", "frame.c", "walk.c")


class NotBuilt(TamisError):
    """There is no compiler, or it refused the sources."""


def load_generator() -> Path:
    """The program `load`, with TLS where OpenSSL's headers are installed."""
    tls = ["-DWITH_TLS", "-lssl", "-lcrypto"] if has_openssl() else []
    return _built("load", sorted((HERE / "load").glob("*.c")), tls)


def forwarder() -> Path:
    """The program `forward`."""
    return _built("forward", [HERE / "forward.c", *(HERE / "load" / name for name in _SHARED_WITH_FORWARDER)], [])


def _built(name: str, sources: list[Path], libraries: list[str]) -> Path:
    if not (HERE / "forward.c").exists():
        raise NotBuilt("the sources of the load generator are only in a checkout, not in an installed package")
    program = BUILT / name
    inputs = [*sources, *(HERE / "load").glob("*.h")]
    if not program.exists() or program.stat().st_mtime < max(path.stat().st_mtime for path in inputs):
        BUILT.mkdir(exist_ok=True)
        partial = BUILT / f"{name}.{os.getpid()}"  # two runs may be building at once
        _compile([*_FLAGS, "-I", str(HERE), *map(str, sources), "-o", str(partial), *libraries])
        partial.replace(program)
    return program


def _compile(arguments: list[str]) -> None:
    done = subprocess.run([_compiler(), *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise NotBuilt(f"the load generator does not compile:\n{done.stderr}")


def has_openssl() -> bool:
    """Whether the load generator can do TLS."""
    asked = [_compiler(), "-E", "-include", "openssl/ssl.h", "-x", "c", "/dev/null"]
    return not subprocess.run(asked, capture_output=True, check=False).returncode  # noqa: S603


def _compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        raise NotBuilt("no C compiler: apt-get install gcc")
    return found
