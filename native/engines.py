"""The engines of tables and their options, as listed in C (native/engines/registry.c).

Law: Python has no copy of a name or a bound: a new engine in C is available in the command line, the topology file, the
benchmarks and the tests without a change there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from tamis.native._tm import ffi, lib

_NUMBER: Final = re.compile(r"[0-9]+(_[0-9]+)*", re.ASCII)
_Cdata = Any  # cffi's types exist only at run time


@dataclass(frozen=True, slots=True)
class EngineOption:
    """An option of an engine: a whole number from `least` to `most`, or one of `values` if these numbers have names."""

    name: str
    about: str
    least: int
    most: int
    standard: int
    values: tuple[str, ...] = ()

    def value(self, given: int | str) -> int:
        """Return the number for C. Raise ValueError with the allowed values if `given` is not one of them."""
        if given in self.values:
            return self.least + self.values.index(str(given))
        if isinstance(given, str):
            if self.values or not _NUMBER.fullmatch(given):
                raise ValueError(f"{self.name} is {given!r}; {self.allowed}")
            given = int(given)
        if not self.least <= given <= self.most:
            raise ValueError(f"{self.name} is {given}; {self.allowed}")
        return given

    @property
    def spelled(self) -> str:
        """The default value, as text."""
        return self.values[self.standard - self.least] if self.values else str(self.standard)

    @property
    def allowed(self) -> str:
        return f"one of {', '.join(self.values)}" if self.values else f"from {self.least:,} to {self.most:,}"


@dataclass(frozen=True, slots=True)
class Engine:
    """One entry of the registry. `number`: of the engine in C; `compares`: whether its tables find which filters cover
    others; `limits`: whether a match can stop after some filters of each interface (`Table.match_limited`)."""

    name: str
    number: int
    about: str
    compares: bool
    options: Mapping[str, EngineOption]
    limits: bool

    def values(self, options: Mapping[str, int | str]) -> dict[str, int]:
        """Return the numbers of `options` for C. Raise ValueError for the first unknown option or invalid value."""
        for name in options:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise ValueError(f"engine {self.name} has no option {name!r}; its options: {known}")
        return {name: self.options[name].value(given) for name, given in options.items()}


def _text(text: _Cdata) -> str:
    return ffi.string(text).decode()  # type: ignore[no-any-return]


def _until_null(ask: Callable[[int], _Cdata]) -> Iterator[_Cdata]:
    for i in count():
        if (answer := ask(i)) == ffi.NULL:
            return
        yield answer


def _options(number: int) -> dict[str, EngineOption]:
    kinds = _until_null(lambda i: lib.tm_engine_option(number, i))
    options = (
        EngineOption(
            *(_text(kind.name), _text(kind.about), int(kind.least), int(kind.most), int(kind.standard)),
            tuple(_text(kind.values).split()) if kind.values != ffi.NULL else (),
        )
        for kind in kinds
    )
    return {option.name: option for option in options}


def _engines() -> dict[str, Engine]:
    names = map(_text, _until_null(lib.tm_engine_name))
    return {
        name: Engine(
            name,
            number,
            _text(lib.tm_engine_about(number)),
            bool(lib.tm_engine_compares(number)),
            _options(number),
            bool(lib.tm_engine_limits(number)),
        )
        for number, name in enumerate(names)
    }


ENGINES: Final = _engines()
"""The engines by name, in order of the registry."""
DEFAULT_ENGINE: Final = list(ENGINES)[lib.TM_ENGINE_DEFAULT]


def engine_called(name: str) -> Engine:
    """Return the engine `name`; raise ValueError with the known names if there is none."""
    if name not in ENGINES:
        raise ValueError(f"no engine {name!r}; one of {', '.join(ENGINES)}")
    return ENGINES[name]


def engine_spelled(text: str) -> tuple[Engine, dict[str, str]]:
    """Return the engine and the options in `name` or `name:option=value,option=value`; a colon separates options, too.
    Raise ValueError for an unknown engine or a malformed option."""
    name, _, rest = text.partition(":")
    given = rest.replace(",", ":").split(":") if rest else []
    pairs = [option.partition("=") for option in given]
    for option, sign, _ in pairs:
        if not sign:
            raise ValueError(f"engine {text!r}: {option!r} is not option=value")
    return engine_called(name), {option: value for option, _, value in pairs}


def engines_listed(text: str) -> list[str]:
    """Return the engines in a list: `pst:delay=8,order=names,tamis` has two. A part that begins with `option=` belongs
    to the engine before it."""
    listed: list[str] = []
    for part in text.split(","):
        is_option = "=" in part.partition(":")[0]
        if is_option and listed:
            listed[-1] += f",{part}"
        else:
            listed.append(part)
    return listed


def engines_with(option: str) -> list[str]:
    """Return the names of the engines with this option."""
    return [name for name, engine in ENGINES.items() if option in engine.options]
