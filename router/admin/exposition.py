"""The text format of Prometheus, version 0.0.4.

Law: a metric has its help and type once, before its samples; counters end in `_total`, units are seconds and bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class Exposition:
    def __init__(self) -> None:
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"

    def append(self, text: str) -> None:
        """Append the lines of another page."""
        self._lines += text.splitlines()

    def counter(self, name: str, meaning: str, value: float) -> None:
        self.family(f"{name}_total", "counter", meaning, [({}, value)])

    def gauge(self, name: str, meaning: str, value: float) -> None:
        self.family(name, "gauge", meaning, [({}, value)])

    def family(self, name: str, kind: str, meaning: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> None:
        self._head(name, kind, meaning)
        self._lines += [f"{name}{_labels(labels)} {_number(value)}" for labels, value in samples]

    def histogram(self, name: str, meaning: str, bounds: Sequence[float], counts: Sequence[int], total: float) -> None:
        """Append a histogram; `counts` has one more value than `bounds`, for values above the last bound."""
        self._head(name, "histogram", meaning)
        below = 0
        for bound, count in zip([*map(_number, bounds), "+Inf"], counts, strict=True):
            below += count
            self._lines.append(f'{name}_bucket{{le="{bound}"}} {below}')
        self._lines += [f"{name}_sum {_number(total)}", f"{name}_count {below}"]

    def _head(self, name: str, kind: str, meaning: str) -> None:
        self._lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]


def _labels(labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else repr(float(value))
