"""The certificates of a real router, as its pages and `tamis status` show them, before and after a reload."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tamis.cli.main import main
from tamis.cli.reach.admin_http import asked
from tamis.testing import blocking
from tamis.testing.blocking import BlockingRouter
from tests.router.connections.test_certificate import dates, expired, made

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl"),
]
DAY_S = 86_400


def topology(folder: Path) -> Path:
    """Write a router with both certificates, of 90 days each."""
    (folder / "links").mkdir()
    made(folder / "links", 90).rename(folder / "links.pem")
    renew(folder, 90)
    file = folder / "one.yaml"
    file.write_text(
        "tls: {certificate: clients.pem, key: clients.key}\n"
        "routers: {a: {clients: '127.0.0.1:0', admin: '127.0.0.1:0', neighbour_tls: "
        "{certificate: links.pem, key: links/key.pem, ca: links.pem}}}\n"
    )
    return file


def renew(folder: Path, days: int) -> None:
    """Put another certificate for clients where the one before is."""
    made(folder, days).rename(folder / "clients.pem")
    (folder / "key.pem").rename(folder / "clients.key")


def page(router: BlockingRouter, path: str) -> tuple[int, str]:
    code, body = asked(router.admin, "GET", path, None)
    return code, body.decode()


def certificates(router: BlockingRouter) -> dict[str, dict[str, Any]]:
    return {each["key"]: each for each in json.loads(page(router, "/status")[1])["certificates"]}


def expiries(router: BlockingRouter) -> dict[str, int]:
    """Return what the metrics say."""
    found = re.findall(
        r'^tamis_certificate_expires_timestamp_seconds\{certificate="(\w+)"\} (\d+)$',
        page(router, "/metrics")[1],
        re.MULTILINE,
    )
    return {key: int(value) for key, value in found}


def reloaded(router: BlockingRouter, folder: Path) -> None:
    """Have the router read its files again, and wait until it has the certificate for clients that is there now."""
    until_s = int(dates(folder / "clients.pem")[1].timestamp())
    os.kill(router.pid, signal.SIGHUP)
    while expiries(router)["tls"] != until_s:
        time.sleep(0.02)


def told(router: BlockingRouter, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["status", router.admin])
    return code, capsys.readouterr().out


def test_the_expiry_of_certificates_is_shown_and_a_reload_renews_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with blocking.started(topology(tmp_path), "a") as router:
        clients_pem, links_pem = tmp_path / "clients.pem", tmp_path / "links.pem"
        shown = certificates(router)
        assert expiries(router) == {key: each["until_s"] for key, each in shown.items()}
        assert shown["tls"]["file"].endswith("clients.pem")
        for key, file in (("tls", clients_pem), ("neighbour_tls", links_pem)):
            assert [shown[key]["since_s"], shown[key]["until_s"]] == [date.timestamp() for date in dates(file)]
            assert 89 * DAY_S < shown[key]["left_s"] <= 90 * DAY_S
        code, said = told(router, capsys)
        assert code == 0
        assert "certificate" in said.splitlines()[0]
        assert "89 d 23 h" in said
        assert "expire" not in said

        renew(tmp_path, 5)
        assert not certificates(router)["tls"]["expires_soon"], "what is loaded counts, not what lies in the file"
        reloaded(router, tmp_path)
        assert certificates(router)["tls"]["expires_soon"]
        code, said = told(router, capsys)
        assert code == 0, "it is valid still"
        date = f"{dates(clients_pem)[1]:%Y-%m-%d %H:%M} UTC"
        assert re.search(
            rf"^a: tls: the certificate \S+clients.pem expires on {date}, in 4 d 23 h$", said, re.MULTILINE
        )
        assert page(router, "/readyz")[0] == 200

        expired(clients_pem)
        reloaded(router, tmp_path)
        code, body = page(router, "/readyz")
        assert code == 503
        [problem] = json.loads(body)["problems"].items()
        date = f"{dates(clients_pem)[1]:%Y-%m-%d %H:%M} UTC"
        assert problem[0] == "certificate tls"
        assert problem[1].endswith(f"clients.pem expired on {date}")
        code, said = told(router, capsys)
        assert code == 1
        assert f"a is not ready: {problem[1]}" in said
        assert router.log.read_text().count("certificate expired on") == 1

        renew(tmp_path, 90)
        reloaded(router, tmp_path)
        assert page(router, "/readyz")[0] == 200
        assert told(router, capsys)[0] == 0


def test_a_router_serves_clients_while_its_certificate_for_links_has_expired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = topology(tmp_path)
    expired(tmp_path / "links.pem")
    with blocking.started(file, "a") as router:
        code, body = page(router, "/readyz")
        assert code == 200
        assert list(json.loads(body)["problems"]) == ["certificate neighbour_tls"]
        code, said = told(router, capsys)
        assert code == 0
        assert re.search(r"^a: neighbour_tls: the certificate \S+links.pem expired on ", said, re.MULTILINE)
        assert said.splitlines()[1].endswith("expired")


def test_a_router_without_certificates_says_nothing_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("routers: {a: {clients: 'unix:a.sock', admin: '127.0.0.1:0'}}\n")
    with blocking.started(file, "a") as router:
        assert certificates(router) == {}
        assert "tamis_certificate" not in page(router, "/metrics")[1]
        assert "certificate" not in told(router, capsys)[1]
