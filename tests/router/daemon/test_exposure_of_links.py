"""Links that prove nothing stay on this machine."""

from __future__ import annotations

import pytest

from tamis.configs import parse_topology
from tamis.protocol.wire.numbers import stable_number
from tamis.router.daemon.exposure import check_exposure
from tamis.serving.cannot_start import CannotStart

DIALS, WAITS = sorted("ab", key=stable_number)


def settings(router: str, address: str, link: str = "", more: str = ""):
    text = f"routers: {{a: {{neighbours: '{address}'{more}}}, b: {{neighbours: '{address}'{more}}}}}"
    text += f"\nlinks: [{{ends: [a, b]{link}}}]"
    return parse_topology(text.replace("}, b: {", ", machine: m1}, b: {")).router(router)


@pytest.mark.parametrize("router", ["a", "b"])
@pytest.mark.parametrize("address", ["127.0.0.1:7500", "[::1]:7500", "localhost:7500", "unix:a.sock"])
def test_this_machine_needs_no_proof(router, address):
    check_exposure(settings(router, address), is_insecure=False)


@pytest.mark.parametrize("router", [DIALS, WAITS])
def test_other_machines_do(router, caplog):
    bare = settings(router, "10.0.0.7:7500")
    with pytest.raises(CannotStart, match=r"10\.0\.0\.7:7500, is open to other machines"):
        check_exposure(bare, is_insecure=False)
    check_exposure(bare, is_insecure=True)
    assert "insecure" in caplog.text


def test_a_secret_or_certificates_are_proof(caplog):
    check_exposure(settings(DIALS, "10.0.0.7:7500", ", secret: k"), is_insecure=False)
    assert "a link crosses the network unencrypted" in caplog.text
    tls = ", neighbour_tls: {certificate: c, key: k, ca: r}"
    caplog.clear()
    check_exposure(settings(DIALS, "10.0.0.7:7500", more=tls), is_insecure=False)
    assert not caplog.text
