"""Builds `tamis.native._tm`: tm_api.h goes to cffi as it is, every .c file of this folder is compiled.

`TAMIS_CFLAGS` adds compiler and linker flags (the sanitizer build of `make sanitize` sets it).
"""

from __future__ import annotations

import os
from pathlib import Path

from cffi import FFI

_HERE = Path(__file__).parent
_EXTRA = os.environ.get("TAMIS_CFLAGS", "").split()

ffi = FFI()
ffi.cdef((_HERE / "tm_api.h").read_text())
ffi.set_source(
    "tamis.native._tm",
    '#include "tm.h"',
    sources=sorted(f"native/{path.name}" for path in _HERE.glob("*.c") if path.name != "_tm.c"),
    depends=sorted(f"native/{path.name}" for path in _HERE.glob("*.h")),
    include_dirs=["native"],
    extra_compile_args=["-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", *_EXTRA],
    extra_link_args=_EXTRA,
)
