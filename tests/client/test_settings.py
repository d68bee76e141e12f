from __future__ import annotations

import ssl
from typing import Any

import pytest

import tamis
from tamis.protocol.errors import Refused


async def coroutine(router: str) -> None:
    """What may not be a callback."""


ADDRESS = "tamis://rome:7400"
BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "1 to 256 bytes"),
    ({"name": 257 * "a"}, "at most 256 bytes"),
    ({"token": ""}, "1 to 4096 bytes"),
    ({"token": bytes(4097)}, "1 to 4096 bytes"),
    ({"hold_s": 0.01}, "hold_s"),
    ({"hold_s": float("nan")}, "hold_s"),
    ({"hold_s": 1e9}, "hold_s"),
    ({"inbox_bytes": 0}, "an inbox"),
    ({"inbox_messages": 0}, "an inbox"),
    ({"tls": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}, "tamis\\+tls"),
    ({"name": 7}, "name is text, not int"),
    ({"token": 7}, "token is text or bytes, not int"),
    ({"hold_s": "10"}, "hold_s is a number of seconds, not str"),
    ({"patience_s": "10"}, "patience_s is a number of seconds, not str"),
    ({"redial_s": 0.01}, "redial_s is 0.05 to 3600 seconds"),
    ({"inbox_bytes": 1e6}, "inbox_bytes is a whole number, not float"),
    ({"tls": "cert.pem"}, "tls is an ssl.SSLContext, not str"),
    ({"on_gap": 7}, "on_gap is a function, not int"),
    ({"on_connected": coroutine}, "on_connected is not awaited"),
]


@pytest.mark.parametrize(("change", "sentence"), BAD)
def test_what_a_router_would_not_take_is_refused_at_once(change: dict[str, Any], sentence: str) -> None:
    for connect in tamis.connect, tamis.blocking.connect:
        with pytest.raises(Refused, match=sentence):
            connect(ADDRESS, **change)


@pytest.mark.parametrize("address", [7, ["tamis://rome:7400"], b"tamis://rome:7400", None])
def test_an_address_is_text(address: Any) -> None:
    for connect in tamis.connect, tamis.blocking.connect:
        with pytest.raises(Refused, match=f"an address is text .*, not {type(address).__name__}"):
            connect(address)


def test_clients_without_a_name_have_different_ones() -> None:
    assert tamis.connect(ADDRESS).name != tamis.connect(ADDRESS).name
    assert tamis.connect(ADDRESS, name="alice").name == "alice"
