"""Build `tamis.native._tm`: cffi reads HEADERS unchanged, and every .c file in and below this folder is compiled.

An include has the path of its file from this folder (`base/memory.h`), so files of two folders may have one name.

Environment variables:

    TAMIS_CFLAGS    more compiler and linker flags (`make sanitize` sets them)
    TAMIS_WERROR=1  makes warnings errors, for CI; without it warnings of a later compiler do not break an installation
    TAMIS_NATIVE=required
                    fails if the C does not compile, as `make` does; without it the package is then a client alone
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

from cffi import FFI

HEADERS = (
    "tm_api.h",
    "tm_switch_api.h",
    "tm_access_api.h",
    "tm_forward_api.h",
    "tm_figures_api.h",
    "tm_records_api.h",
    "tm_log_api.h",
    "tm_durables_api.h",
    "tm_custody_api.h",
    "tm_remote_api.h",
    "tm_residual_api.h",
    "tm_relay_api.h",
)
"""Headers that C and Python share; each depends on those before it."""
_HERE = Path(__file__).parent
_IS_STRICT = os.environ.get("TAMIS_WERROR") == "1"
_IS_REQUIRED = os.environ.get("TAMIS_NATIVE") == "required"
_EXTRA = os.environ.get("TAMIS_CFLAGS", "").split()
_COMPILER = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
# Optimisation across files saves 1 to 4 % of the instructions of a message (bench/durable/others.py); other compilers
# need a linker plug-in for it.
_ACROSS_FILES = ["-O3", "-flto=auto"] if "gcc" in _COMPILER and not _EXTRA else []


def _files(suffix: str) -> list[str]:
    """Return all files with the suffix, as paths from the repository's root, without tests and the output of cffi."""
    paths = (path.relative_to(_HERE) for path in _HERE.rglob(f"*.{suffix}"))
    return sorted(f"native/{path.as_posix()}" for path in paths if path.parts[0] not in ("tests", "_tm.c"))


ffi = FFI()
for _header in HEADERS:
    ffi.cdef((_HERE / _header).read_text())
ffi.set_source(
    "tamis.native._tm",
    "".join(f'#include "{name}"\n' for name in ("tm.h", *HEADERS[-6:])),
    sources=_files("c"),
    depends=_files("h"),
    include_dirs=["native"],
    extra_compile_args=[
        "-std=c11",
        "-O3",
        "-g0",  # overrides -g in Python's flags, which doubles the size of the output
        "-MMD",  # lists the dependencies by which setup.py finds outdated objects
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        *(["-Werror"] if _IS_STRICT else []),
        *_ACROSS_FILES,
        *_EXTRA,
    ],
    extra_link_args=[*_ACROSS_FILES, *_EXTRA],
    optional=not _IS_REQUIRED,
)
