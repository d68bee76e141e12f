"""Credentials of requests, by Basic and Bearer."""

from __future__ import annotations

from base64 import b64encode

import pytest

from tamis.serving.bearer import CREDENTIAL_CHARACTERS_MAX, bearer_of, credential_of
from tamis.serving.problem import RequestRefused


def basic(text: bytes) -> dict[str, str]:
    return {"authorization": f"Basic {b64encode(text).decode()}"}


def test_basic_has_a_name_and_a_token_that_may_have_colons():
    assert credential_of(basic(b"desk:a:b")) == ("desk", "a:b")
    assert credential_of(basic(b"desk:")) == ("desk", "")
    assert credential_of(basic("é:ü".encode())) == ("é", "ü")


def test_bearer_has_a_token():
    assert credential_of({"authorization": "bEaReR  secret "}) == ("", "secret")
    assert bearer_of({"authorization": "Bearer secret"}) == "secret"
    assert bearer_of(basic(b"a:b")) == bearer_of({}) == ""
    assert credential_of({}) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Basic"},
        {"authorization": "Basic !"},
        {"authorization": "Basic YQ"},
        basic(b"no colon"),
        basic(b"\xff:a"),
        {"authorization": "Digest a"},
        {"authorization": "Bearer"},
        {"authorization": "Bearer " + "x" * (CREDENTIAL_CHARACTERS_MAX + 1)},
    ],
)
def test_what_is_no_credential_is_refused(headers):
    with pytest.raises(RequestRefused) as caught:
        credential_of(headers)
    assert caught.value.problem.status == 401


def test_a_token_is_not_shown():
    assert "secret" not in repr(credential_of({"authorization": "Bearer secret"}))
