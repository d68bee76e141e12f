"""Whose requests administration takes, and that slow ones keep nobody out."""

from __future__ import annotations

import contextlib
import http.client
import socket
import time

import pytest

from tamis.cli.main import main
from tamis.router.admin.guard import read_admin_token
from tamis.router.admin.rates import BURST, Rates
from tamis.router.daemon.exit_codes import CANNOT_START
from tamis.serving.cannot_start import CannotStart

TCP = 'routers: {a: {clients: "127.0.0.1:0", admin: "127.0.0.1:0"%s}}'


def ask(port: int, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request(
            method, path, body or None, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def port_of(router) -> int:
    return int(router.ready["admin"][0].rpartition(":")[2])


# --- names and origins -----------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_router_that_listens_refuses_them(process):
    port = port_of(process(TCP % ""))
    assert ask(port, "/filters")[0] == 200
    assert ask(port, "/filters", Host=f"localhost:{port}")[0] == 200
    status, said = ask(port, "/filters", Host="evil.example")
    assert (status, "evil.example" in said) == (421, True)
    assert ask(port, "/audit", "POST", Origin="http://evil.example")[0] == 403


# --- the token -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_token_is_asked_for(process, tmp_path, monkeypatch, capsys):
    token = "0123456789abcdef"  # noqa: S105
    file = tmp_path / "admin.token"
    file.write_text(token + "\n")
    file.chmod(0o600)
    router = process(TCP % ", admin_token: admin.token")
    port = port_of(router)
    assert [ask(port, path)[0] for path in ("/healthz", "/readyz", "/metrics", "/status")] == [200, 200, 401, 401]
    assert ask(port, "/status", Authorization="Bearer wrong")[0] == 401
    assert ask(port, "/status", Authorization=f"Bearer {token}")[0] == 200
    address = f"127.0.0.1:{port}"
    assert main(["status", address]) == 1
    assert "requires its token" in capsys.readouterr().err
    assert main(["status", address, "--admin-token-file", str(file)]) == 0
    monkeypatch.setenv("TAMIS_ADMIN_TOKEN_FILE", str(file))
    assert main(["filters", address]) == 0
    assert main(["top", address, "--once", "--interval", "0.1"]) == 0
    assert token not in router.errors


@pytest.mark.parametrize(
    ("text", "mode", "what"),
    [
        ("short", 0o600, "16 to 1,024"),
        ("0123456789abcdef", 0o644, "chmod 600"),
        ("two words of it all", 0o600, "one word"),
    ],
)
def test_a_file_that_is_no_token(tmp_path, text, mode, what):
    file = tmp_path / "t"
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(CannotStart, match=what):
        read_admin_token(str(file))


@pytest.mark.slow
async def test_beyond_loopback_a_token_is_needed(process, tmp_path):
    topology = 'routers: {a: {clients: "127.0.0.1:0", admin: "0.0.0.0:0"%s}}'
    bare = process(topology % "")
    assert await bare.exit_code() == CANNOT_START
    assert "set `admin_token`" in bare.errors
    (tmp_path / "t").write_text("0123456789abcdef")
    (tmp_path / "t").chmod(0o600)
    assert process(topology % ", admin_token: t").ready


# --- rates and places ------------------------------------------------------------------------------------------------


def test_a_bucket_refuses_and_fills_again():
    now = [0.0]
    rates = Rates(lambda: now[0])
    assert all(rates.take("/audit") for _ in range(int(BURST["/audit"])))
    assert not rates.take("/audit")
    assert rates.take("/explain")
    now[0] = 1.0
    assert rates.take("/audit")
    assert not rates.take("/audit")


@pytest.mark.slow
async def test_what_costs_much_is_not_asked_too_often(process):
    port = port_of(process(TCP % ""))
    asked = [ask(port, "/explain", "POST", b"{}")[0] for _ in range(150)]
    assert asked[: int(BURST["/explain"])] == [200] * int(BURST["/explain"])
    assert asked[-1] == 429


@pytest.mark.slow
@pytest.mark.parametrize("said", [b"", b"GET /filters HTTP/1.1\r\n"])
async def test_slow_requests_keep_nobody_out(process, said):
    port = port_of(process(TCP % ""))
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            slow.sendall(said)
        for path in ("/healthz", "/readyz", "/metrics", "/status") * 3:
            began = time.monotonic()
            assert ask(port, path)[0] == 200
            assert time.monotonic() - began < 2
