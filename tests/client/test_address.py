from __future__ import annotations

import pytest

from tamis.client.connection.address import parse_address, parse_addresses
from tamis.protocol.errors import Refused

GOOD = ["tamis://127.0.0.1:7400", "tamis+tls://rome.example:7400", "tamis://[::1]:1", "tamis+unix:/run/tamis/clients"]
BAD = [
    *("", "rome:7400", "tamis://rome", "tamis://:7400", "tamis://rome:0", "tamis://rome:65536", "tamis://rome:x"),
    *("tamis://rome:1/path", "tamis://token@rome:1", "tamis://rome:1?a=b", "http://rome:1", "tamis://[::1:1"),
    *("tamis+unix:relative", "tamis+unix://host/path", "tamis+unix:", "tamis+unix:/" + 107 * "a"),
]


@pytest.mark.parametrize("text", GOOD)
def test_what_is_written_is_read_back(text: str) -> None:
    address = parse_address(text)
    assert str(address) == text
    assert address.is_encrypted is text.startswith("tamis+tls")


def test_a_unix_path_may_come_in_the_long_form() -> None:
    assert parse_address("tamis+unix:///run/x") == parse_address("tamis+unix:/run/x")


@pytest.mark.parametrize("text", BAD)
def test_what_no_socket_can_use_is_refused_by_name(text: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_address(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("count", [0, 17])
def test_the_number_of_addresses_is_bounded(count: int) -> None:
    with pytest.raises(Refused, match="1 to 16 addresses"):
        parse_addresses(tuple(GOOD[:1] * count))
