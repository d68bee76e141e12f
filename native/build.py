"""Builds `tamis.native._tm`: tm_api.h goes to cffi as it is, every .c file of this folder is compiled.

`TAMIS_CFLAGS` adds compiler and linker flags (the sanitizer build of `make sanitize` sets it).
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

from cffi import FFI

_HERE = Path(__file__).parent
_EXTRA = os.environ.get("TAMIS_CFLAGS", "").split()
_COMPILER = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
# Optimising across files saves a message a twentieth; other compilers need a plug-in of the linker for it.
_ACROSS_FILES = ["-O3", "-flto"] if "gcc" in _COMPILER and not _EXTRA else []

ffi = FFI()
ffi.cdef((_HERE / "tm_api.h").read_text())
ffi.set_source(
    "tamis.native._tm",
    '#include "tm.h"',
    sources=sorted(f"native/{path.name}" for path in _HERE.glob("*.c") if path.name != "_tm.c"),
    depends=sorted(f"native/{path.name}" for path in _HERE.glob("*.h")),
    include_dirs=["native"],
    extra_compile_args=[
        "-std=c11",
        "-O3",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        "-Werror",
        *_ACROSS_FILES,
        *_EXTRA,
    ],
    extra_link_args=[*_ACROSS_FILES, *_EXTRA],
)
