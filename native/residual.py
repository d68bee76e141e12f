"""Residual programs as C verifies and runs them; protocol/residual/ makes them and says what they mean."""

from __future__ import annotations

from typing import Final

from tamis.native._tm import ffi, lib
from tamis.native.attributes import Decoder
from tamis.protocol.errors import Refused
from tamis.protocol.residual.evaluate import ResidualResult, ResidualVerdict


class NativeResidual:
    """A program that C has verified; Refused with the reason if the bytes are none."""

    def __init__(self, packed: bytes) -> None:
        reason, place = ffi.new("const char **"), ffi.new("uint32_t *")
        if lib.tm_residual_verify(ffi.from_buffer(packed), len(packed), reason, place) != lib.TM_OK:
            raise Refused(f"{ffi.string(reason[0]).decode()}, at {place[0]}")
        self._packed: Final = packed
        self._decoder: Final = Decoder()
        self._steps: Final = ffi.new("uint64_t *")

    def run(self, attributes: bytes, budget: int) -> ResidualResult:
        """Return what the program says about a message, whose attributes are a msgpack map."""
        count = self._decoder.decode(attributes)
        verdict = lib.tm_residual_run(
            ffi.from_buffer(self._packed), self._decoder.attributes, count, budget, self._steps
        )
        return ResidualResult(ResidualVerdict(verdict), int(self._steps[0]))
