"""The engines that tables can be made with, as C lists them (native/engines/registry.c), and what each lets one set.

Law: no name of an engine, and no bound of an option, is written down in Python: a new engine in C is offered by the
command line, the topology file, the benchmarks and the tests as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from tamis.native._tm import ffi, lib

_Cdata = Any  # cffi's types exist only at run time


@dataclass(frozen=True, slots=True)
class EngineOption:
    """One whole number that an engine can be given, from `least` to `most`."""

    name: str
    about: str
    least: int
    most: int
    standard: int

    def check(self, value: int) -> None:
        """Raise ValueError, which says what is allowed, if `value` is outside the bounds."""
        if not self.least <= value <= self.most:
            raise ValueError(f"{self.name} is {value}; from {self.least} to {self.most}")


@dataclass(frozen=True, slots=True)
class Engine:
    """One entry of the registry; `number` names the engine in C."""

    name: str
    number: int
    about: str
    options: Mapping[str, EngineOption]

    def check(self, options: Mapping[str, int]) -> None:
        """Raise ValueError for the first option that the engine does not have, or whose value is outside its bounds."""
        for name, value in options.items():
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise ValueError(f"engine {self.name} has no option {name!r}; its options: {known}")
            self.options[name].check(value)


def _text(text: _Cdata) -> str:
    return ffi.string(text).decode()  # type: ignore[no-any-return]


def _until_null(ask: Callable[[int], _Cdata]) -> Iterator[_Cdata]:
    for i in count():
        if (answer := ask(i)) == ffi.NULL:
            return
        yield answer


def _options(number: int) -> dict[str, EngineOption]:
    kinds = _until_null(lambda i: lib.tm_engine_option(number, i))
    options = (EngineOption(_text(k.name), _text(k.about), int(k.least), int(k.most), int(k.standard)) for k in kinds)
    return {option.name: option for option in options}


def _engines() -> dict[str, Engine]:
    names = map(_text, _until_null(lib.tm_engine_name))
    return {
        name: Engine(name, number, _text(lib.tm_engine_about(number)), _options(number))
        for number, name in enumerate(names)
    }


ENGINES: Final = _engines()
"""The engines by name, in the order of the registry."""
DEFAULT_ENGINE: Final = list(ENGINES)[lib.TM_ENGINE_DEFAULT]


def engine_called(name: str) -> Engine:
    """Return the engine called `name`; ValueError, which lists those there are, for any other."""
    if name not in ENGINES:
        raise ValueError(f"no engine {name!r}; one of {', '.join(ENGINES)}")
    return ENGINES[name]


def engines_with(option: str) -> list[str]:
    """Return the names of the engines that have this option."""
    return [name for name, engine in ENGINES.items() if option in engine.options]
