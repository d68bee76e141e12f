"""How many small faults in the routing core do its tests find? `make mutants` asks for a sample.

Law: no file is changed. Each mutant is a child of this process that has imported everything but the core; it compiles
the changed text in place of one module and runs `pytest -x tests/router/core`, the module's own tests first. A mutant
is killed when a test fails, or when it has used 20 s of processor time: the tests need two or three. Without a fault
they must pass. The same seed and the same sources give the same sample.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import os
import pkgutil
import random
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Final, NamedTuple

import cosmic_ray.plugins
import hypothesis
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

import tamis.protocol

ROOT: Final = Path(__file__).parent.parent
CORE: Final = ROOT / "router" / "core"
TESTS: Final = ROOT / "tests" / "router" / "core"
CPU_S_MAX: Final = 20
WALL_S_MAX: Final = 600
TIMED_OUT: Final = 100
"""An exit code that pytest has not."""
GOAL_PERCENT: Final = 85
NO_FAULT: Final = "core/NoOp"
OTHER_TESTS: Final = {
    "commands": "records",
    "events": "records",
    "flood": "freshness",
    "layer": "trees",
    "plausible": "clocks",
    "reverse_path": "trees",
    "shared_tree": "trees",
    "source_trees": "trees",
    "times": "records",
}
"""Where the tests of a module are if not in `test_<module>.py`."""


class Mutant(NamedTuple):
    path: Path
    operator: str
    occurrence: int

    def text(self) -> str:
        operator = cosmic_ray.plugins.get_operator(self.operator)()
        return str(mutate_code(self.path.read_text(), operator, self.occurrence))

    def __str__(self) -> str:
        before, after = self.path.read_text().splitlines(), self.text().splitlines()
        line = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
        name = f"{self.path.relative_to(ROOT)}:{line + 1} {self.operator.removeprefix('core/')}"
        return f"{name}\n    - {before[line].strip()}\n    + {after[line].strip()}"


def every_mutant() -> Iterator[Mutant]:
    for path in sorted(CORE.rglob("*.py")):
        text = path.read_text()
        nodes, annotations = list(ast_nodes(get_ast(text))), list(_annotations(text))
        for name in sorted(cosmic_ray.plugins.operator_names()):
            operator = cosmic_ray.plugins.get_operator(name)
            if name == NO_FAULT or operator.arguments():
                continue
            spans = [span for node in nodes for span in operator().mutation_positions(node)]
            for occurrence, (start, end) in enumerate(spans):
                if not any(first <= start and end <= last for first, last in annotations):
                    yield Mutant(path, name, occurrence)


def _annotations(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where nothing is ever evaluated, so that no test could find anything."""
    for node in ast.walk(ast.parse(text)):
        for field in ("annotation", "returns"):
            found = getattr(node, field, None)
            if found is not None:
                yield (found.lineno, found.col_offset), (found.end_lineno, found.end_col_offset)


# --- one mutant


def start(mutant: Mutant) -> int:
    """The process that runs its tests; exit code 0: it survived."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    with contextlib.suppress(BaseException):  # whatever a mutant raises, at import for instance, has killed it
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S_MAX, CPU_S_MAX + 1))
        signal.alarm(WALL_S_MAX)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        _put_in_place(mutant)
        code = _run_tests(mutant)
    os._exit(code)


def _put_in_place(mutant: Mutant) -> None:
    name, text = ".".join(("tamis", *mutant.path.relative_to(ROOT).with_suffix("").parts)), mutant.text()
    get_code = SourceFileLoader.get_code

    def get_mutated(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        return compile(text, mutant.path, "exec") if fullname == name else get_code(loader, fullname)

    SourceFileLoader.get_code = get_mutated  # type: ignore[method-assign, assignment]


def _run_tests(mutant: Mutant) -> int:
    """Most mutants fall by their own tests; that is seen sooner in a process that collects no others."""
    own = sorted(TESTS.rglob(f"test_{OTHER_TESTS.get(mutant.path.stem, mutant.path.stem)}.py"))
    others = sorted(path for path in TESTS.rglob("test_*.py") if path not in own)
    if own:
        pid = os.fork()
        if not pid:
            os._exit(_pytest(*own))
        if status := os.waitpid(pid, 0)[1]:
            return 1 if os.WIFEXITED(status) else TIMED_OUT
    return _pytest(*others)


def _pytest(*paths: Path) -> int:
    options = ["-x", "-q", "--noconftest", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*options, "-p", "no:cacheprovider", "-p", "no:xdist", *map(str, paths)]))


# --- all of a sample


def run(mutants: list[Mutant], jobs: int) -> dict[Mutant, str]:
    waiting, running = list(reversed(mutants)), dict[int, Mutant]()
    ends: dict[Mutant, str] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[start(mutant)] = mutant
        pid, status = os.wait()
        mutant = running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        ends[mutant] = "survived" if code == 0 else "killed" if 0 < code < TIMED_OUT else "timed out"
        if ends[mutant] != "killed" or len(ends) % 20 == 0:
            print(f"{len(ends)}/{len(mutants)} {ends[mutant]}: {mutant}", flush=True)
    return ends


def _import_all_but_the_core() -> None:
    for module in pkgutil.walk_packages(tamis.protocol.__path__, "tamis.protocol."):
        importlib.import_module(module.name)
    importlib.import_module("hypothesis.strategies")
    importlib.import_module("hypothesis.internal.conjecture.engine")
    assert not [name for name in sys.modules if name.startswith("tamis.router")]


def main() -> int:
    parser = argparse.ArgumentParser(description="faults put into router/core, and how many of them its tests find")
    parser.add_argument("--sample", type=int, default=400, help="how many mutants (default: 400)")
    parser.add_argument("--seed", type=int, default=None, help="which ones (default: chance)")
    parser.add_argument("--jobs", type=int, default=1, help="at the same time (default: 1)")
    parser.add_argument("--module", default="", help="of this module only, such as `rib`")
    options = parser.parse_args()
    seed = random.randrange(2**32) if options.seed is None else options.seed
    mutants = [mutant for mutant in every_mutant() if options.module in ("", mutant.path.stem)]
    sample = random.Random(seed).sample(mutants, min(options.sample, len(mutants)))
    print(f"{len(sample)} of {len(mutants)} mutants, --seed {seed}, hypothesis {hypothesis.__version__}", flush=True)
    _import_all_but_the_core()
    if os.waitpid(start(Mutant(CORE / "core.py", NO_FAULT, 0)), 0)[1]:
        sys.exit("the tests fail without any fault")
    ends = run(sample, options.jobs)
    counts = Counter(ends.values())
    percent = 100 * (len(ends) - counts["survived"]) / len(ends)
    print(f"killed {counts['killed']}, timed out {counts['timed out']}, survived {counts['survived']}: {percent:.1f} %")
    return int(percent < GOAL_PERCENT)


if __name__ == "__main__":
    sys.exit(main())
