"""Spark on other machines: what each master needs before Spark starts, and the package that its workers run.

    spark://HOST:PORT         a standalone master, or several joined by commas
    k8s://https://HOST:PORT   Kubernetes, whose pods have an image with Python
    yarn                      Hadoop, as the files in HADOOP_CONF_DIR describe it

Law: what is missing is told in a sentence before Java starts. Workers run the package of this process, which is sent as
an archive of its Python files and comes before one that they have; they need Python of this version with pyarrow, numpy
and pandas.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZipFile

from tamis.analysis.spark.failure import SparkFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STANDALONE: Final = "spark://"
KUBERNETES: Final = "k8s://"
YARN: Final = "yarn"
IMAGE: Final = "spark.kubernetes.container.image"
PYTHON: Final = "spark.pyspark.python"
ANSWER_S: Final = 10.0
"""Seconds in which a master must accept a connection."""
ENVIRONMENT: Final = ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE")
"""Variables that workers on other machines need, too, and that are no secrets."""
PACKAGES: Final = ("tamis", "tamis.analysis", "tamis.protocol")
"""The packages of which a worker imports modules; of `tamis` itself only the names."""


_Task = TypeVar("_Task")


def is_elsewhere(master: str) -> bool:
    return not master.startswith("local")


def check(master: str, more: Mapping[str, str]) -> None:
    """Check that a master has what it needs, in `more` or in the environment, and accepts connections; Spark would try
    for a minute without naming the cause."""
    if master == YARN:
        folders = [os.environ[name] for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR") if os.environ.get(name)]
        if not any(Path(folder).is_dir() for folder in folders):
            raise SparkFailed("master yarn needs HADOOP_CONF_DIR: the folder with core-site.xml and yarn-site.xml")
    if master.startswith(KUBERNETES):
        if IMAGE not in more and "SPARK_CONF_DIR" not in os.environ:
            raise SparkFailed(f"master k8s:// needs the image of its workers: --conf {IMAGE}=IMAGE")
        url = urlsplit(master.removeprefix(KUBERNETES))
        _ask("Kubernetes API server", [(url.hostname or "", url.port or (443 if url.scheme == "https" else 80))])
    if master.startswith(STANDALONE):
        places = (place.rpartition(":") for place in master.removeprefix(STANDALONE).split(","))
        _ask("Spark master", [(host.strip("[]"), int(port)) for host, _, port in places])


def _ask(what: str, places: list[tuple[str, int]]) -> None:
    """Check that one of `places` accepts connections."""
    refused = []
    for place in places:
        try:
            socket.create_connection(place, ANSWER_S).close()
        except OSError as error:
            refused.append(f"{place[0]}:{place[1]}: {error}")
        else:
            return
    raise SparkFailed(f"no {what} at {', '.join(refused)}")


def settings(master: str) -> dict[str, str]:
    """Return what workers on other machines get of the environment of this process."""
    if not is_elsewhere(master):
        return {}
    return {f"spark.executorEnv.{name}": os.environ[name] for name in ENVIRONMENT if name in os.environ}


def each(spark: SparkSession, function: Callable[[_Task], Any], tasks: Sequence[_Task]) -> None:
    """Call a function that writes files for each task: by threads here, or by the workers of a cluster."""
    if not is_elsewhere(str(spark.sparkContext.master)):
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(function, tasks))
    elif tasks:
        spark.sparkContext.parallelize(tasks, len(tasks)).foreach(function)


def send(spark: SparkSession) -> None:
    """Give the workers the package. The archive is there until this process ends: workers may start at any time."""
    folder = Path(tempfile.mkdtemp(prefix="tamis-package-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    spark.sparkContext.addPyFile(str(archive(folder / "tamis.zip")))


def archive(file: Path) -> Path:
    """Write the Python files of PACKAGES, as they are installed here, to `file`, from which Python imports them."""
    with ZipFile(file, "w", ZIP_DEFLATED) as written:
        for package in PACKAGES:
            folder = Path(import_module(package).__path__[0])
            sources = folder.glob("*.py") if package == "tamis" else folder.rglob("*.py")
            for source in sorted(sources):
                written.write(source, Path(*package.split("."), source.relative_to(folder)))
    return file
