"""Commands, arguments, keys, fields and metrics of the previous version work, each with a warning."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import blocking as client_of_threads
from tamis.cli.main import main
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter

pytestmark = pytest.mark.slow
OLD_KEYS = (
    "kept: {bytes: 256 MiB, segment_bytes: 1 MiB, keeps: 5, keeps_per_client: 3, members_per_keep: 2, keep_series: 4}"
)


@pytest.fixture
def router(tmp_path: Path) -> Iterator[BlockingRouter]:
    ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file = tmp_path / "one.yaml"
    file.write_text(f"{OLD_KEYS}\nmetrics: {{old_names: true}}\nrouters: {{a: {{{ports}, data: data}}}}\n")
    with blocking.started(file, "a") as one:
        yield one


def page(router: BlockingRouter, path: str) -> str:
    with urllib.request.urlopen(f"http://{router.admin}{path}", timeout=20) as answer:
        return answer.read().decode()


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[list[dict[str, Any]], str]:
    """Return the objects that an old command prints, and what it warns of."""
    capsys.readouterr()
    assert main([*argv, "--json"]) == 0
    out, err = capsys.readouterr()
    return [json.loads(line) for line in out.splitlines()], err


def test_old_commands_answer_with_both_names_of_each_field(
    router: BlockingRouter, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(router.file)
    [made], err = said(capsys, "keep", router.address, "jobs", "n > 1")
    known = {"known_at": [], "unknown_at": [], "is_best_effort": False}
    assert made == {"durable": "jobs", "predicate": "n > 1", "keep": "jobs"} | known
    assert "Warning: `tamis keep` is now `tamis durable create`" in err
    [sent], err = said(capsys, "pub", router.address, "n=2", "--confirm", "kept")
    assert sent["stored"] == 1
    assert "Warning: `--confirm kept` is now `--confirm stored`" in err
    [listed], err = said(capsys, "kept", "ls", file)
    assert (listed["keep"], listed["members"], listed["doubts"]) == ("jobs", 0, 0)
    assert (listed["keep"], listed["terms"]) == (listed["durable"], listed["policy"])
    assert "Warning: `tamis kept` is now `tamis durable`" in err
    [got], err = said(capsys, "sub", router.address, "--kept", "jobs", "--count", "1", "--timeout", "20")
    assert got["attributes"] == {"n": 2}
    assert "Warning: `--kept` is now `--durable`" in err
    [status], _ = said(capsys, "status", file)
    assert (status["kept"]["keeps"], status["kept"]["kept"]) == (1, 1)
    [gone], _ = said(capsys, "kept", "rm", router.address, "jobs")
    assert gone == {"removed": "jobs", "forgotten": "jobs"}


def test_an_old_page_of_administration_is_there(router: BlockingRouter) -> None:
    old, new = (json.loads(page(router, path)) for path in ("/kept", "/durables"))
    assert (old["kept"], old["keeps"]) == (new["durables"], new["is_storing"]) == ([], True)


def test_old_verbs_of_a_client_work(router: BlockingRouter) -> None:
    with client_of_threads.connect(router.address, name="one") as client:
        with pytest.deprecated_call(match=r"Client.keep is now Client.durable"):
            client.keep("jobs", "n > 0")
        with pytest.deprecated_call(match='confirm="kept" is now confirm="stored"'):
            assert client.publish({"n": 1}, confirm="kept").is_stored
        with pytest.deprecated_call(match=r"Client.attach is now"):
            work = client.attach("jobs")
        work.receive(20.0).ack(confirm=True)
        with pytest.deprecated_call(match=r"Attachment.detach is now"):
            work.detach()
        with pytest.deprecated_call(match=r"Client.keeps is now"):
            [info] = client.keeps()
        with pytest.deprecated_call(match=r"KeepInfo.terms is now"):
            assert info.terms == info.policy
        with pytest.deprecated_call(match=r"Client.forget is now"):
            client.forget("jobs")
        assert client.durables() == []


@pytest.mark.parametrize(("old", "new"), [("KeptMessage", "StoredMessage"), ("KeepRefused", "DurableRefused")])
def test_old_classes_are_the_new_ones(old: str, new: str) -> None:
    with pytest.deprecated_call(match=f"tamis.{old} is now tamis.{new}"):
        assert getattr(tamis, old) is getattr(tamis, new)
    assert tamis.GapReason["WAY_CHANGED"] is tamis.GapReason.ROUTE_CHANGED


def test_old_metrics_are_there_if_asked_for(router: BlockingRouter, tmp_path: Path) -> None:
    with client_of_threads.connect(router.address, name="one") as client:
        client.durable("jobs", "n > 0")
    text = page(router, "/metrics")
    lines = text.splitlines()
    for new, old in (
        ("tamis_durables 1", "tamis_kept_keeps 1"),
        ("tamis_durables_consumers 0", "tamis_kept_members 0"),
        ("tamis_durables_unknown_ranges 0", "tamis_kept_doubts 0"),
        ('tamis_durable_depth_messages{durable="jobs"} 0', 'tamis_keep_depth_messages{keep="jobs"} 0'),
        ("tamis_durables_log_limit_bytes 268435456", "tamis_kept_log_limit_bytes 268435456"),
    ):
        assert {new, old} <= set(lines)
    heads = [line for line in lines if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads))
    file = tmp_path / "other.yaml"
    ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"routers: {{a: {{{ports}, data: other}}}}\n")
    with blocking.started(file, "a") as other, client_of_threads.connect(other.address, name="one") as client:
        client.durable("jobs", "n > 0")
        plain = page(other, "/metrics")
    assert "tamis_durables 1" in plain
    assert "tamis_kept" not in plain
    assert "tamis_keep" not in plain
