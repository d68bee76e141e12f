"""Listening: the descriptor in reserve, and addresses that cannot be bound."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tamis.configs import Address
from tamis.serving.cannot_start import CannotStart, CannotStartNow
from tamis.serving.listeners import ReserveDescriptor, bind


def test_the_spare_descriptor_is_there_again():
    spare = ReserveDescriptor()
    before = len([*Path("/proc/self/fd").iterdir()])
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as sock:
        assert spare.accept(listener, b"full")
        assert sock.recv(9) == b"full"
        listener.setblocking(False)
        assert not spare.accept(listener, b"full")
    assert len([*Path("/proc/self/fd").iterdir()]) == before
    spare.close()


def test_an_address_knows_what_the_system_chose():
    [listener] = bind(Address("tcp", host="127.0.0.1", port=0))
    assert (listener.address.kind, listener.address.host) == ("tcp", "127.0.0.1")
    assert listener.address.port == listener.sock.getsockname()[1] != 0
    with pytest.raises(CannotStartNow, match=r"cannot listen on 127\.0\.0\.1"):
        bind(listener.address)
    listener.close()


def test_an_address_of_another_machine_and_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CannotStartNow):
        bind(Address("tcp", host="192.0.2.1", port=0))
    with pytest.raises(CannotStart) as caught:
        bind(Address("unix", path=str(tmp_path / "none" / "x.sock")))
    assert not isinstance(caught.value, CannotStartNow)


def test_a_socket_that_a_killed_process_left_is_removed(tmp_path):
    path = tmp_path / "x.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    [listener] = bind(Address("unix", path=str(path)))
    with pytest.raises(CannotStartNow, match="another process listens there"):
        bind(Address("unix", path=str(path)))
    listener.close()
    assert not path.exists()
