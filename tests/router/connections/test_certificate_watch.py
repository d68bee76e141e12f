"""What is said of certificates as time goes by."""

from __future__ import annotations

import logging
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tamis.router.connections.certificate_watch import SOON, CertificateWatch
from tamis.router.daemon.health import Health
from tests.router.connections.test_certificate import dates, made

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")
SECOND = timedelta(seconds=1)


class Watched:
    """A watch with a clock of its own."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)
        self.health = Health()
        self.watch = CertificateWatch(self.health, lambda: self.at)

    def looked_at(self, at: datetime) -> tuple[dict[str, str], bool]:
        """Return the problems at that time, and whether the router is ready with them."""
        self.at = at
        self.watch.look()
        return self.health.problems, not self.health.unready

    @property
    def soon(self) -> list[str]:
        return [each.key for each in self.watch.in_use if each.expires_soon(self.at)]


@pytest.mark.parametrize(("key", "is_ready"), [("tls", False), ("neighbour_tls", True)])
def test_a_certificate_is_a_problem_before_and_after_its_dates(key: str, is_ready: bool, tmp_path: Path) -> None:
    file = made(tmp_path, 90)
    since, until = dates(file)
    watched = Watched()
    watched.watch.use(key, str(file))
    assert watched.looked_at(since) == ({}, True)
    name = f"certificate {key}"
    early = f"{key}: the certificate {file} is not valid before {since:%Y-%m-%d %H:%M} UTC"
    assert watched.looked_at(since - SECOND) == ({name: early}, is_ready)
    assert watched.looked_at(until - SECOND) == ({}, True)
    late = f"{key}: the certificate {file} expired on {until:%Y-%m-%d %H:%M} UTC"
    assert watched.looked_at(until) == ({name: late}, is_ready)
    watched.watch.use(key, str(made(tmp_path, 200)))
    assert watched.looked_at(until) == ({}, True)


def test_soon_is_fourteen_days_and_each_state_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = made(tmp_path, 90)
    _, until = dates(file)
    watched = Watched()
    watched.watch.use("tls", str(file))
    assert timedelta(days=14) == SOON
    with caplog.at_level(logging.WARNING):
        for at, soon, lines in (
            (until - SOON - SECOND, [], 0),
            (until - SOON, ["tls"], 1),
            (until - SECOND, ["tls"], 1),
            (until, [], 2),
            (until + SOON, [], 2),
        ):
            watched.looked_at(at)
            assert (watched.soon, len(caplog.records)) == (soon, lines), at
    date = f"{until:%Y-%m-%d %H:%M} UTC"
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"certificate expires on {date}", f"certificate expired on {date}"]


def test_the_dates_are_those_of_what_was_loaded(tmp_path: Path) -> None:
    """The file has another certificate by now, and then none that can be read."""
    file = made(tmp_path, 90)
    _, until = dates(file)
    watched = Watched()
    watched.watch.use("tls", str(file))
    made(tmp_path, 30).rename(file)
    watched.watch.look()
    assert [each.valid.until for each in watched.watch.in_use] == [until]
    watched.watch.use("tls", str(file))
    assert watched.watch.in_use[0].valid.until < until
    watched.looked_at(until)
    assert watched.health.unready
    file.write_text("no certificate")
    watched.watch.use("tls", str(file))
    assert watched.watch.in_use == []
    assert watched.health.problems == {}
