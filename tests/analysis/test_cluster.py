"""What masters need is told before Spark starts, and the archive for workers is a package that works by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.records import reading
from tamis.analysis.spark import cluster
from tamis.analysis.spark.failure import SparkFailed
from tamis.testing import free_port

OURS_ALONE = ("cffi", "click", "httptools", "lark", "msgpack", "pydantic", "rich", "sortedcontainers", "uvloop", "yaml")
"""Libraries that a worker may lack."""
AT_WORK = """
import sys
archive, store, log, lacking, *folders = sys.argv[1:]
sys.path[:] = [archive, *(path for path in sys.path if "tamis" not in path), *folders]
sys.modules.update(dict.fromkeys(lacking.split(",")))
from tamis.analysis import study
from tamis.analysis.durable import audit
from tamis.analysis.questions import content, delivery, matches
from tamis.analysis.records import reading
reading.parse(log, "messages", store, "0")
ours = {name: module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "tamis"}
assert all(file.startswith(archive) for file in ours.values()), ours
print(len(ours))
"""


@pytest.mark.slow
def test_workers_import_all_from_the_archive(tmp_path: Path) -> None:
    archive = cluster.archive(tmp_path / "tamis.zip")
    assert archive.stat().st_size < 1_000_000
    for folder in reading.FOLDERS:
        (tmp_path / "store" / folder).mkdir(parents=True)
    log = tmp_path / "messages-1-000000.jsonl"
    log.write_text(json.dumps({"v": 1, "kind": "message", "t_us": 5, "router": "a", "epoch": 7, "n": 0}) + "\n")
    words = [str(archive), str(tmp_path / "store"), str(log), ",".join(OURS_ALONE)]
    folders = [path for path in sys.path if path.endswith("site-packages")]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-I", "-S", "-c", AT_WORK, *words, *folders], cwd=tmp_path, stdout=subprocess.PIPE, check=True
    )
    assert int(done.stdout) > 20
    assert (tmp_path / "store" / "messages" / "0.parquet").exists()


def test_what_a_master_lacks_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SparkFailed, match="master yarn needs HADOOP_CONF_DIR"):
        cluster.check("yarn", {})
    monkeypatch.setenv("YARN_CONF_DIR", str(tmp_path))
    cluster.check("yarn", {})
    place = f"127.0.0.1:{free_port()}"
    with pytest.raises(SparkFailed, match=r"--conf spark\.kubernetes\.container\.image=IMAGE"):
        cluster.check(f"k8s://https://{place}", {})
    with pytest.raises(SparkFailed, match=f"no Kubernetes API server at {place}: "):
        cluster.check(f"k8s://https://{place}", {cluster.IMAGE: "tamis"})
    with pytest.raises(SparkFailed, match=rf"no Spark master at {place}: .*, localhost:1: "):
        cluster.check(f"spark://{place},localhost:1", {})


def test_workers_elsewhere_know_where_the_bucket_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://10.0.0.9:9000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert "secret" not in cluster.settings("yarn").values()
    assert cluster.settings("yarn")["spark.executorEnv.AWS_ENDPOINT_URL"] == "http://10.0.0.9:9000"
    assert cluster.settings("local[2]") == {}
