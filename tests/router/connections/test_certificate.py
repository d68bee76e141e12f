"""The dates of certificates, as openssl writes and reads them, and of files that are damaged."""

from __future__ import annotations

import random
import shutil
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tamis.router.connections.certificate import validity_of

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")
KINDS = {"ec": "ec -pkeyopt ec_paramgen_curve:prime256v1", "rsa": "rsa:2048"}


def made(folder: Path, days: int, kind: str = "ec") -> Path:
    file = folder / f"{kind}-{days}.pem"
    words = (
        f"req -x509 -newkey {KINDS[kind]} -nodes -days {days} -subj /CN=localhost -keyout {folder}/key.pem -out {file}"
    )
    subprocess.run(["openssl", *words.split()], check=True, capture_output=True)  # noqa: S603, S607
    return file


def dates(file: Path) -> list[datetime]:
    """As openssl prints them."""
    asked = ["openssl", "x509", "-noout", "-dates", "-in", str(file)]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout  # noqa: S603
    texts = (line.partition("=")[2] for line in said.splitlines())
    return [datetime.strptime(text, "%b %d %H:%M:%S %Y GMT").replace(tzinfo=UTC) for text in texts]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("days", [1, 400, 20_000])
def test_the_dates_are_those_that_openssl_reads(kind: str, days: int, tmp_path: Path) -> None:
    file = made(tmp_path, days, kind)
    valid = validity_of(file)
    assert valid is not None
    assert [valid.since, valid.until] == dates(file)
    assert valid.until - valid.since == timedelta(days=days)


def test_of_a_chain_the_first_that_ends_counts(tmp_path: Path) -> None:
    long, short = made(tmp_path, 90), made(tmp_path, 30)
    chain = tmp_path / "chain.pem"
    chain.write_text(f"The router\n{long.read_text()}\nIts root\n{short.read_text()}")
    valid = validity_of(chain)
    assert valid is not None
    assert valid.until == dates(short)[1]
    assert valid.since == max(dates(short)[0], dates(long)[0])


def test_what_is_no_certificate_has_no_dates(tmp_path: Path) -> None:
    file = tmp_path / "none.pem"
    assert validity_of(file) is None
    for text in ("", "no certificate", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----"):
        file.write_text(text)
        assert validity_of(file) is None


@pytest.mark.parametrize("seed", range(3))
def test_damaged_certificates_have_dates_or_none(seed: int, tmp_path: Path) -> None:
    random_ = random.Random(seed)
    whole = ssl.PEM_cert_to_DER_cert(made(tmp_path, 5).read_text())
    file = tmp_path / "damaged.pem"
    without = 0
    for _ in range(500):
        damaged = bytearray(whole if random_.random() < 0.5 else whole[: random_.randrange(1, len(whole) + 1)])
        for _ in range(random_.randrange(4)):
            damaged[random_.randrange(min(len(damaged), 200))] = random_.randrange(256)
        file.write_text(ssl.DER_cert_to_PEM_cert(bytes(damaged)))
        without += validity_of(file) is None
    assert 0 < without < 500


def expired(file: Path) -> None:
    """Let the certificate have ended two years ago: its dates are written over."""
    der = ssl.PEM_cert_to_DER_cert(file.read_text())
    _, until = dates(file)
    past = until - timedelta(days=800)
    assert der.count(until.strftime("%y%m%d%H%M%SZ").encode()) == 1
    der = der.replace(until.strftime("%y%m%d%H%M%SZ").encode(), past.strftime("%y%m%d%H%M%SZ").encode())
    file.write_text(ssl.DER_cert_to_PEM_cert(der))
    assert dates(file)[1] == past
