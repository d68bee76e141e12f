"""What records as columns cost and save: `python -m tamis.bench.logs.columns`.

    closing     bringing a router's closed file into its form: CPU and bytes a record
    reading     all records with Spark, each time in a new process: CPU of Java and of Python, and seconds

Law: the records are those of a real ring of routers, made as many as are asked for (bench/logs/analysis), and both
forms have the same ones: the lines of one are counted in the other. The forms take turns; of each figure the least and
the greatest of all rounds are told.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from tamis.bench.logs.analysis import ring
from tamis.bench.logs.analysis.measured import cpu_s
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import tell
from tamis.router.records.converting import CLOSED, compress, convert_folder

FILES: Final = 6
"""Files of messages, of some 27 MB of lines each: a router closes them at 64 MiB or sooner."""
Figures = dict[str, float]


@click.command(help=__doc__)
@click.option("--records", type=click.IntRange(min=1_000), default=400_000, show_default=True)
@click.option("--filters", type=click.IntRange(min=100), default=1_000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="A JSON object for each row.")
@click.option("--measure", type=click.Path(path_type=Path), hidden=True)
def main(records: int, filters: int, rounds: int, as_json: bool, measure: Path | None) -> None:
    if measure is not None:
        click.echo(json.dumps(_read(measure)))
        return
    with scratch_folder() as folder:
        logs = {"jsonl": folder / "jsonl", "parquet": folder / "parquet"}
        made = _make(logs["jsonl"], folder, records, filters)
        outcomes = list(convert_folder(logs["jsonl"], logs["parquet"], CLOSED["parquet"]))
        assert sum(each.records for each in outcomes if "messages" in each.path.name) == made  # noqa: S101
        found: dict[tuple[str, str], list[Figures]] = {}
        for _ in range(rounds):
            for form, many in logs.items():
                found.setdefault(("closing", form), []).append(_closed(logs["jsonl"], form, made, folder))
                found.setdefault(("reading", form), []).append(_read_apart(many))
        for (what, form), rows in found.items():
            spread = {
                f"{name}_{end}": pick(row[name] for row in rows)
                for name in rows[0]
                for end, pick in (("min", min), ("max", max))
            }
            tell({"what": what, "form": form, "records": made, "rounds": rounds, **spread}, as_json)


def _make(logs: Path, folder: Path, records: int, filters: int) -> int:
    from tamis.analysis import multiply
    from tamis.analysis.spark import session

    small = asyncio.run(ring.recorded(folder, filters))
    spark = session.start()
    logs.mkdir()
    made = multiply.write(spark, small, logs, records, FILES)
    spark.stop()
    return made


def _plain(logs: Path, folder: Path) -> Iterator[Path]:
    for path in sorted(logs.glob("messages-*.gz")):
        plain = folder / path.name.removesuffix(".gz")
        with gzip.open(path) as packed, plain.open("wb") as file:
            shutil.copyfileobj(packed, file)
        yield plain


def _closed(logs: Path, form: str, records: int, folder: Path) -> Figures:
    """CPU and bytes a record of closed files."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        plain = list(_plain(logs, Path(scratch)))
        lines = sum(path.stat().st_size for path in plain)
        began_s = time.process_time()
        for path in plain:
            compress(path, CLOSED[form])
        took_s = time.process_time() - began_s
        size = sum(path.stat().st_size for path in Path(scratch).iterdir())
    return {"us": took_s / records * 1e6, "bytes": size / records, "bytes_as_lines": lines / records}


def _read_apart(logs: Path) -> Figures:
    command = [sys.executable, "-m", "tamis.bench.logs.columns", "--measure", str(logs)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - ourselves
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _read(logs: Path) -> Figures:
    """CPU and seconds of reading all records once, and of one pass over them; Spark is started before."""
    from pyspark.sql import functions as F  # noqa: N812

    from tamis.analysis.records.logs import read
    from tamis.analysis.spark import session

    spark = session.start("local[2]")
    gateway = spark.sparkContext._gateway
    assert gateway is not None  # noqa: S101 - it is ours
    spark.range(1).collect()
    java_s, python_s, began_s = cpu_s(gateway.proc.pid), _own_cpu_s(), time.perf_counter()
    with tempfile.TemporaryDirectory() as store:
        found = read(spark, logs, Path(store))
        stored_s = time.perf_counter()
        found.messages.agg(F.count("*"), F.sum("bytes"), F.sum("match_ns"), F.max("transit")).collect()
        ended_s = time.perf_counter()
    return {
        "java_s": cpu_s(gateway.proc.pid) - java_s,
        "python_s": _own_cpu_s() - python_s,
        "parsing_s": stored_s - began_s,
        "all_s": ended_s - began_s,
    }


def _own_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
