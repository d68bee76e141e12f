from __future__ import annotations

import ssl
from typing import Any

import pytest

import tamis
from tamis.protocol.errors import Refused

ADDRESS = "tamis://rome:7400"
BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "1 to 256 bytes"),
    ({"name": 257 * "a"}, "at most 256 bytes"),
    ({"token": ""}, "1 to 1024 bytes"),
    ({"token": bytes(1025)}, "1 to 1024 bytes"),
    ({"hold_s": 0.01}, "hold_s"),
    ({"hold_s": float("nan")}, "hold_s"),
    ({"hold_s": 1e9}, "hold_s"),
    ({"inbox_bytes": 0}, "an inbox"),
    ({"inbox_messages": 0}, "an inbox"),
    ({"tls": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}, "tamis\\+tls"),
]


@pytest.mark.parametrize(("change", "sentence"), BAD)
def test_what_a_router_would_not_take_is_refused_at_once(change: dict[str, Any], sentence: str) -> None:
    for connect in tamis.connect, tamis.blocking.connect:
        with pytest.raises(Refused, match=sentence):
            connect(ADDRESS, **change)


def test_clients_without_a_name_have_different_ones() -> None:
    assert tamis.connect(ADDRESS).name != tamis.connect(ADDRESS).name
    assert tamis.connect(ADDRESS, name="alice").name == "alice"
