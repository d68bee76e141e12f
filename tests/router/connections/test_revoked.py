"""Lists of revoked certificates, read from files."""

from __future__ import annotations

import datetime as dt
import re
import ssl
from pathlib import Path

import pytest

from tamis.router.connections import revoked
from tamis.router.connections.revoked import RevokedCertificates
from tamis.serving.cannot_start import CannotStart
from tests.router.access.certifying import Root


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return Root(tmp_path_factory.mktemp("certificates"))


def read(file: str, ca: str) -> RevokedCertificates:
    return RevokedCertificates("tls", file, ca, dt.datetime.now(dt.UTC))


def joined(path: Path, *files: str) -> str:
    path.write_bytes(b"".join(Path(file).read_bytes() for file in files))
    return str(path)


def der(file: str) -> bytes:
    return ssl.PEM_cert_to_DER_cert(Path(file).read_text().partition("-----END CERTIFICATE-----")[0] + END)


END = "-----END CERTIFICATE-----\n"


@pytest.mark.parametrize("form", ["PEM", "DER"])
def test_a_list_refuses_what_it_names(root, form):
    (bad, _), (good, _) = root.issue("bad", "bad"), root.issue("good", "good")
    lists = read(root.revoke("list", bad, form=form), root.ca)
    assert lists.refusal(der(bad)) == "the certificate CN=x is revoked"
    assert lists.refusal(der(good)) == ""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    lists.check_by(context)
    assert context.cert_store_stats()["crl"] == 1


def test_a_certificate_of_another_authority_is_refused(root, tmp_path):
    other, _ = Root(tmp_path, "other").issue("stranger", "x")
    lists = read(root.revoke("list"), root.ca)
    assert lists.refusal(der(other)) == "no list of revoked certificates is of CN=other"


def test_what_a_revoked_authority_has_signed_is_refused(root, tmp_path):
    below = root.authority("below")
    leaf, _ = below.issue("leaf", "leaf")
    ca = joined(tmp_path / "ca", root.ca, below.ca)
    empty = below.revoke("of-below")
    lists = read(joined(tmp_path / "lists", root.revoke("list"), empty), ca)
    assert lists.refusal(der(leaf)) == ""
    lists = read(joined(tmp_path / "lists", root.revoke("list", below.ca), empty), ca)
    assert lists.refusal(der(leaf)) == "the certificate CN=below is revoked"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda _root, folder: str(folder / "absent"), "absent: No such file or directory"),
        (lambda _root, folder: joined(folder / "empty"), "it is no list of revoked certificates (CRL) in PEM or DER"),
        (lambda root, _: root.ca, "it is no list of revoked certificates (CRL) in PEM or DER"),
        (lambda root, _: root.revoke("old", days=-1), "it expired on "),
        (
            lambda _root, folder: Root(folder, "root").revoke("forged"),
            "its list of CN=root is not signed by an authority in ",
        ),
        (
            lambda root, folder: joined(folder / "two", root.revoke("one"), root.revoke("two")),
            "it has 2 lists of CN=root, an authority in ",
        ),
        (
            lambda root, folder: joined(folder / "more", root.revoke("one"), Root(folder, "far").revoke("far")),
            "its list of CN=far is not signed by an authority in ",
        ),
        (lambda root, _: root.revoke("delta", part=True), "its list of CN=root is a part of one"),
    ],
)
def test_a_wrong_list_is_named_with_its_reason(root, tmp_path, make, sentence):
    with pytest.raises(CannotStart, match=re.escape(sentence)) as error:
        read(make(root, tmp_path), root.ca)
    assert str(error.value).startswith("tls: revoked: ")


def test_each_authority_needs_a_list(root, tmp_path):
    ca = joined(tmp_path / "ca", root.ca, Root(tmp_path, "far").ca)
    with pytest.raises(CannotStart, match=r"it has 0 lists of CN=far, an authority in .*; it must have one"):
        read(root.revoke("list"), ca)


def test_an_authority_that_may_not_sign_lists_has_none(tmp_path):
    """OpenSSL would refuse all certificates."""
    root = Root(tmp_path, crl_sign=False)
    with pytest.raises(CannotStart, match=r"is not signed by an authority in .* that may sign it"):
        read(root.revoke("list"), root.ca)


def test_a_list_that_is_unreadable_or_too_long_is_refused(root, tmp_path, monkeypatch):
    with pytest.raises(CannotStart, match="Is a directory"):
        read(str(tmp_path), root.ca)
    monkeypatch.setattr(revoked, "FILE_BYTES_MAX", 10)
    with pytest.raises(CannotStart, match="it has more than 10 bytes"):
        read(root.revoke("list"), root.ca)


def test_a_list_with_a_changed_byte_is_refused(root, tmp_path):
    data = bytearray(Path(root.revoke("list.der", form="DER")).read_bytes())
    data[-1] ^= 1
    (tmp_path / "changed").write_bytes(data)
    with pytest.raises(CannotStart, match="its list of CN=root is not signed by"):
        read(str(tmp_path / "changed"), root.ca)
