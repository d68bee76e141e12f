"""Runs one fuzz target for a while and says what it did; exit code 1 and the input when it found something.

Law: the fuzzing itself happens in a child process (libFuzzer ends its process), under a limit of memory and of seconds
an input; the parent reads its counts and, with --keep, a small corpus that reaches all that was reached.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
KEPT_MAX = 150
KEPT_BYTES_MAX = 1_024
INPUT_BYTES_MAX = 4_096
RSS_MIB_MAX = 2_048
SECONDS_AN_INPUT_MAX = 20
TARGETS = ("predicate", "frames", "space", "topology", "access", "signed_token")


def kept(name: str) -> list[bytes]:
    """The inputs in the tree for a target."""
    path = CORPUS / f"{name}.b64"
    return [base64.b64decode(line) for line in path.read_text().splitlines()] if path.exists() else []


def _child(name: str, arguments: list[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=["tamis"], enable_loader_override=False):
        module = importlib.import_module(f"tests.fuzz.{name}")
    atheris.Setup([sys.argv[0], *arguments], module.target)
    atheris.Fuzz()


def _libfuzzer(name: str, *arguments: str) -> str:
    """Run the child; its log. Fails loudly where the child does."""
    command = [sys.executable, "-m", "tests.fuzz", "--child", name, *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    done = subprocess.run(command, check=False, text=True, errors="replace", **quiet)  # noqa: S603
    if done.returncode != 0:
        sys.stderr.write(done.stderr[-20_000:])
        raise SystemExit(1)
    return done.stderr


def _write_inputs(folder: Path, inputs: list[bytes]) -> None:
    for number, data in enumerate(inputs):
        (folder / f"seed{number:04}").write_bytes(data)


def _stat(log: str, name: str) -> int:
    found = re.search(rf"stat::{name}:\s+(\d+)", log)
    return int(found.group(1)) if found else 0


def _coverage(log: str) -> tuple[int, int]:
    edges = re.findall(r"cov: (\d+)", log)
    features = re.findall(r"ft: (\d+)", log)
    return (int(edges[-1]), int(features[-1])) if edges else (0, 0)


def _keep(name: str, found: Path) -> int:
    """Put some of what was found into the tree: each input reached something new when it was found."""
    inputs = sorted({path.read_bytes() for path in found.iterdir()}, key=lambda data: (len(data), data))
    small = [data for data in inputs if len(data) <= KEPT_BYTES_MAX]
    chosen = small[:: max(1, -(-len(small) // KEPT_MAX))]
    CORPUS.mkdir(exist_ok=True)
    (CORPUS / f"{name}.b64").write_text("".join(base64.b64encode(data).decode() + "\n" for data in chosen))
    return len(chosen)


def run(name: str, minutes: float, seed: int, keep: bool, runs: int = -1) -> dict[str, object]:
    seeds: list[bytes] = importlib.import_module(f"tests.fuzz.{name}").SEEDS
    with tempfile.TemporaryDirectory() as scratch:
        found = Path(scratch) / "found"
        found.mkdir()
        _write_inputs(found, [data for data in seeds + kept(name) if len(data) <= INPUT_BYTES_MAX])
        log = _libfuzzer(
            name,
            f"-max_total_time={int(minutes * 60)}",
            f"-runs={runs}",
            f"-seed={seed}",
            f"-max_len={INPUT_BYTES_MAX}",
            f"-rss_limit_mb={RSS_MIB_MAX}",
            f"-timeout={SECONDS_AN_INPUT_MAX}",
            "-print_final_stats=1",
            str(found),
        )
        edges, features = _coverage(log)
        report: dict[str, object] = {
            "target": name,
            "minutes": minutes,
            "cpu_minutes": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime / 60, 2),
            "seed": seed,
            "executions": _stat(log, "number_of_executed_units"),
            "coverage_edges": edges,
            "coverage_features": features,
            "inputs_found": _stat(log, "new_units_added"),
            "peak_rss_mib": _stat(log, "peak_rss_mb"),
        }
        if keep:
            report["inputs_kept"] = _keep(name, found)
        return report


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        return _child(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--runs", type=int, default=-1, help="end after this many inputs, or after the minutes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="write a small corpus into the tree")
    options = parser.parse_args()
    os.environ.setdefault("PYTHONHASHSEED", "0")
    report = run(options.target, options.minutes, options.seed, options.keep, options.runs)
    sys.stdout.write(json.dumps(report) + "\n")
    return None


if __name__ == "__main__":
    main()
