"""The msgpack library as this package uses it, typed in one place because the library is not typed.

Law: reading raises only READ_ERRORS. Only strings, bytes, numbers, booleans, lists and maps of them are written, after
checks, so writing raises only for a string that is not Unicode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgpack

Unpacker: Final[Any] = msgpack.Unpacker
unpack: Final[Callable[..., object]] = msgpack.unpackb
pack: Final[Callable[[object], bytes]] = msgpack.packb

# Keeps its buffer between calls, so for small things only. With plain values no other thread gets in during a call.
pack_small: Final[Callable[[object], bytes]] = msgpack.Packer().pack

array_header: Final[Callable[[int], bytes]] = msgpack.Packer().pack_array_header

OutOfData: Final[type[Exception]] = msgpack.OutOfData
READ_ERRORS: Final[tuple[type[Exception], ...]] = (ValueError, msgpack.UnpackException)
"""The errors of reading: truncated data, bytes behind the end, a reserved tag, nesting, an unexpected container,
invalid UTF-8."""
