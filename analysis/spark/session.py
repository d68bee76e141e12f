"""Spark, started as this machine allows.

Law: one session in a process; the caller that starts it stops it. Nothing listens beyond this machine unless a remote
master is chosen.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from tamis.analysis.spark import class_archive, cluster, parts
from tamis.analysis.spark.failure import SparkFailed
from tamis.analysis.spark.java import java_home

ROWS_PER_BATCH = 50_000
"""Rows in one batch for Python; all filters are matched once for each batch."""
GROUPS_MAX = 200_000
"""Groups gathered in one partition before they are sorted: some hundred MB."""

MEMORY_MIN_MB: Final = 512
"""The least memory to allow: Spark starts with 472 MB at least."""
JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
LOCAL_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m"
"""Only the first compiler, the collector without threads, and no collection when more classes are loaded: Java sums up
what workers of Python's found, and the second compiler costs more than it saves there."""

HELD_BYTES: Final = 1024 * 1024 * 1024
"""Free memory that a process keeps which reads many records: to give pages back and take them again costs a fifth of
its time."""
_OF_WORKERS: Final = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    **dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(HELD_BYTES)),
}
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
SETTINGS: Final = {
    **{f"spark.executorEnv.{name}": value for name, value in _OF_WORKERS.items()},
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "FATAL",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_PER_BATCH),
    # Otherwise Spark searches, for every column of every plan, the line of Python that made it.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": str(GROUPS_MAX),
    # Tables partitioned by message are joined by the message and more without moving.
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # A router may remove its oldest file meanwhile: its records are missing then, and their numbers say so.
    "spark.sql.files.ignoreMissingFiles": "true",
    # Otherwise Spark parses a line again for every column of it.
    "spark.sql.optimizer.enableJsonExpressionOptimization": "false",
    # Otherwise each exchange, and each table that is sent because it is small, is a job of its own.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
BRIEF: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ui.explainMode": "simple",
    # Small files are read by one task; a task costs more than their rows.
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.files.minPartitionNum": "1",
}
"""Of jobs of seconds."""


def start(
    master: str = "local[*]", partitions: int | None = None, brief: bool = False, more: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark and return its session. `partitions` are those of a shuffle, by default two for each core, or one if
    `brief`. That is for jobs of seconds, for which compiling well and dividing cost more than they save. `more` are
    settings of Spark's that replace ours."""
    more = more or {}
    cluster.check(master, more)
    os.environ.setdefault("JAVA_HOME", str(java_home()))
    if cluster.PYTHON in more:
        os.environ["PYSPARK_PYTHON"] = more[cluster.PYTHON]
    elif master.startswith(("local", cluster.STANDALONE)):  # elsewhere workers have an image or archive of their own
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    count = partitions or (1 if brief else 2 * (os.cpu_count() or 1))
    settings = SETTINGS | {parts.SETTING: str(count)}
    if not cluster.is_elsewhere(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": _memory(),
            JAVA_OPTIONS: f"{LOCAL_JAVA} {class_archive.java_options()}",
        }
    if brief:
        settings |= BRIEF
    settings |= cluster.settings(master) | dict(more)
    try:
        started = _started(master, settings)
    except PySparkRuntimeError:
        if not class_archive.forget(settings.get(JAVA_OPTIONS, "")):
            raise
        started = _started(master, settings | {JAVA_OPTIONS: LOCAL_JAVA})
    if cluster.is_elsewhere(master):
        cluster.send(started)
    return started


def keep_memory() -> None:
    """Let this process do what its workers do with free memory, if its C library can."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for setting, value in ((_M_TRIM_THRESHOLD, HELD_BYTES), (_M_MMAP_THRESHOLD, HELD_BYTES), (_M_ARENA_MAX, 1)):
            mallopt(setting, value)
        pa.set_memory_pool(pa.system_memory_pool())


def _started(master: str, settings: Mapping[str, str]) -> SparkSession:
    builder = SparkSession.builder.master(master).appName("tamis")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _memory() -> str:
    """Return the memory to allow in Spark's form; refuse in a sentence what Java would refuse at length."""
    text = os.environ.get("TAMIS_SPARK_MEMORY", "2g")
    size = re.fullmatch(r"(\d+)([mg])", text)
    if size is None or int(size[1]) * (1024 if size[2] == "g" else 1) < MEMORY_MIN_MB:
        raise SparkFailed(f"TAMIS_SPARK_MEMORY is {text!r}; allowed: {MEMORY_MIN_MB}m or more, as in 2g")
    return text
