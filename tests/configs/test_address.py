"""Addresses: what they mean, what they refuse, and when two of them clash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.configs.address import UNIX_PATH_BYTES_MAX, Address, parse_address

HOSTS = ["127.0.0.1", "10.0.0.1", "0.0.0.0", "::1", "::", "fe80::1", "localhost", "a", "b.example.org"]  # noqa: S104 - nobody listens
addresses = st.one_of(
    st.builds(lambda host, port: Address("tcp", host, port), st.sampled_from(HOSTS), st.integers(0, 3)),
    st.builds(lambda path: Address("unix", path=path), st.sampled_from(["a", "b", "/run/a"])),
)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:7400", Address("tcp", "127.0.0.1", 7400)),
        ("[::1]:7400", Address("tcp", "::1", 7400)),
        ("[0:0::0001]:1", Address("tcp", "::1", 1)),
        ("[fe80::1%eth0]:1", Address("tcp", "fe80::1%eth0", 1)),
        ("Host_1.Example.ORG:65535", Address("tcp", "host_1.example.org", 65535)),
        ("localhost:0", Address("tcp", "localhost", 0)),
        ("unix:/run/tamis/a.sock", Address("unix", path="/run/tamis/a.sock")),
        ("unix:run/./x/../a.sock", Address("unix", path="run/a.sock")),
        ("unix:" + "x" * UNIX_PATH_BYTES_MAX, Address("unix", path="x" * UNIX_PATH_BYTES_MAX)),
    ],
)
def test_reads(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must be host:port, [ipv6]:port or unix:path"),
        ("host", "must be host:port"),
        ("host:", "with a port from 0 to 65535"),
        ("http://h:1", 'without "http://"'),
        (":7400", "in the host"),
        ("host:65536", "with a port from 0 to 65535"),
        ("host:-1", "with a port"),
        ("host:1e3", "with a port"),
        ("host:٣", "with a port"),
        ("::1:7400", "with brackets"),
        ("[::g]:7400", "valid IPv6 address"),
        ("[127.0.0.1]:7400", "valid IPv6 address"),
        ("256.0.0.1:1", "four numbers from 0 to 255"),
        ("1.2.3:1", "four numbers from 0 to 255"),
        ("*:7400", "0.0.0.0 or [::]"),
        ("ho st:1", "in the host"),
        ("-a:1", "in the host"),
        ("a..b:1", "in the host"),
        (".".join(["a" * 60] * 5) + ":1", "in the host"),
        ("tamis://host:1", 'without "tamis://"'),
        ("unix:", "not empty"),
        ("unix:a\0b", "printable"),
        ("unix:" + "x" * (UNIX_PATH_BYTES_MAX + 1), "at most 107 bytes; it has 108"),
        ("unix:" + "é" * 54, "at most 107 bytes; it has 108"),
    ],
)
def test_refuses(text, words):
    with pytest.raises(ValueError, match="must") as caught:
        parse_address(text)
    assert words in str(caught.value)


def test_relative_unix_path_starts_from_the_folder():
    assert parse_address("unix:a.sock", "etc/net").path == "etc/net/a.sock"
    assert parse_address("unix:/a.sock", "etc/net").path == "/a.sock"


@given(addresses)
def test_text_reads_back(address):
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("127.0.0.1:1", "127.0.0.1:1", True),
        ("127.0.0.1:1", "127.0.0.1:2", False),
        ("127.0.0.1:1", "127.0.0.2:1", False),
        ("127.0.0.1:0", "127.0.0.1:0", False),
        ("HOST:1", "host:1", True),
        ("[::1]:1", "[0::1]:1", True),
        ("127.0.0.1:1", "[::1]:1", False),
        ("0.0.0.0:1", "127.0.0.1:1", True),
        ("0.0.0.0:1", "0.0.0.0:1", True),
        ("0.0.0.0:1", "[::1]:1", False),
        ("0.0.0.0:1", "[::]:1", False),
        ("[::]:1", "[::1]:1", True),
        ("0.0.0.0:1", "host:1", True),
        ("[::]:1", "host:1", True),
        ("0.0.0.0:0", "host:1", False),
        ("localhost:1", "127.0.0.1:1", True),
        ("localhost:1", "[::1]:1", True),
        ("localhost:1", "127.0.0.2:1", False),
        ("unix:a", "unix:./a", True),
        ("unix:a", "unix:b", False),
        ("unix:a", "a:1", False),
    ],
)
def test_clashes(one, other, clash):
    a, b = parse_address(one), parse_address(other)
    assert bool(a.claims() & b.conflicts()) is clash
    assert bool(b.claims() & a.conflicts()) is clash


@given(addresses, addresses)
def test_a_clash_is_mutual(a, b):
    assert bool(a.claims() & b.conflicts()) == bool(b.claims() & a.conflicts())


@pytest.mark.parametrize(("text", "dialable"), [("h:1", True), ("h:0", False), ("[::]:1", False), ("unix:a", True)])
def test_dialable(text, dialable):
    assert parse_address(text).dialable is dialable
