"""Signed tokens: what is valid, and that everything else is one answer, without a traceback."""

from __future__ import annotations

import json
import os
import random

import pytest

from tamis.protocol.limits import CREDENTIAL_BYTES_MAX
from tamis.router.access.signed_tokens import DEPTH_MAX, LIFE_S_MAX, SignedName, SignedTokens
from tamis.serving.cannot_start import CannotStart
from tests.router.access.issuing import AUDIENCE, ISSUER, NOW_S, Key, b64, by_public_key, claims, issuer, keys_file

ROLES = ("sensor", "reader")


def tokens(*issuers, listed=(), now=lambda: NOW_S):
    return SignedTokens(issuers, ROLES, lambda name: name in listed, now)


@pytest.fixture(scope="module")
def key():
    return Key("ES256")


@pytest.fixture
def verified(key, tmp_path):
    """verified(token, name) -> the result by an issuer with one key."""
    found = tokens(issuer(keys_file(tmp_path / "jwks.json", key.jwk), "ES256", "EdDSA", roles=("sensor",)))
    return lambda token, name="ann": found.verified(name, token)


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "ES384", "RS256", "PS256"])
def test_a_token_of_each_algorithm_gives_its_subject_the_roles_of_the_issuer(tmp_path, algorithm):
    key = Key(algorithm)
    found = tokens(
        issuer(keys_file(tmp_path / "k", key.jwk), algorithm, names="an*", roles=("sensor",), roles_from="groups")
    )
    said = claims(groups=["reader", "reader", "mail", 7])
    assert found.verified("ann", key.token(said)) == SignedName("ann", ("sensor", "reader"), NOW_S + 600)
    assert found.verified("ann", key.token(claims(aud=[AUDIENCE, "other"], groups="reader x"))).roles == ROLES
    assert found.verified("ann/desk", key.token(said)).principal == "ann"
    assert found.verified("bob", key.token(claims(sub="bob"))) is None, "no pattern of the issuer"
    assert found.verified("ann", Key(algorithm).token(said)) is None, "the key of another"


@pytest.mark.parametrize("name", ["bob", "annx", "an", "", "/ann", "ANN"])
def test_a_token_is_for_its_subject_and_its_sub_names(verified, key, name):
    assert verified(key.token(claims()), name) is None


WRONG_CLAIMS = {
    "no issuer": {"iss": None},
    "another issuer": {"iss": "https://id.example/"},
    "an issuer that is a list": {"iss": [ISSUER]},
    "no audience": {"aud": None},
    "another audience": {"aud": "tamis:plant2"},
    "an audience that is an object": {"aud": {AUDIENCE: 1}},
    "a part of an audience": {"aud": "tamis"},
    "an empty list of audiences": {"aud": []},
    "no expiry": {"exp": None},
    "expired": {"exp": NOW_S},
    "expired long ago": {"exp": 0},
    "an expiry of 2^63": {"exp": 2**63},
    "an expiry of 10^1000": {"exp": 10**1000},
    "an expiry below zero": {"exp": -(2**63)},
    "an expiry of 1e308": {"exp": 1e308},
    "an expiry that is text": {"exp": str(NOW_S + 600)},
    "an expiry that is true": {"exp": True},
    "more than a day ahead": {"exp": NOW_S + LIFE_S_MAX + 1},
    "not valid yet": {"nbf": NOW_S + 61},
    "issued later": {"iat": NOW_S + 61},
    "issued at text": {"iat": "now"},
    "no subject": {"sub": None},
    "a subject that is a number": {"sub": 7},
    "an empty subject": {"sub": ""},
    "a subject with a line end": {"sub": "ann\n"},
}


@pytest.mark.parametrize("what", WRONG_CLAIMS)
def test_wrong_claims_are_refused(verified, key, what):
    said = claims(**WRONG_CLAIMS[what])
    name = said.get("sub")
    assert verified(key.token(said), name if isinstance(name, str) else "ann") is None


def test_not_a_number_and_repeated_members_are_refused(verified, key):
    text = json.dumps(claims())
    assert verified(key.token(text.encode())) is not None
    assert verified(key.token(text.replace(str(NOW_S + 600), "Infinity").encode())) is None
    assert verified(key.token(text.replace(str(NOW_S + 600), "NaN").encode())) is None
    assert verified(key.token(f'{text[:-1]}, "sub": "ann"}}'.encode())) is None
    assert verified(key.token(text.encode("utf-16"))) is None
    assert verified(key.token(b"[]")) is None
    assert verified(key.token(b"")) is None


WRONG_HEADERS = {
    "no signature": {"alg": "none"},
    "no signature, in capitals": {"alg": "None"},
    "an algorithm of nothing": {"alg": None},
    "an algorithm of the issuer for which it has no key": {"alg": "EdDSA"},
    "an algorithm that is not the issuer's": {"alg": "ES384"},
    "a list of algorithms": {"alg": ["ES256"]},
    "a key that is not there": {"kid": "k2"},
    "a key id that is a number": {"kid": 1},
    "crit": {"crit": ["exp"]},
    "crit of nothing": {"crit": []},
    "a huge crit": {"crit": ["x" * 900] * 2},
    "a payload that is not encoded": {"b64": False},
}


@pytest.mark.parametrize("what", WRONG_HEADERS)
def test_wrong_headers_are_refused(verified, key, what):
    assert verified(key.token(claims(), **WRONG_HEADERS[what])) is None


def test_keys_and_addresses_of_keys_in_a_header_are_not_looked_at(verified, key):
    other = Key("ES256")
    assert verified(other.token(claims(), jwk=other.jwk, jku="https://evil.example/jwks.json", x5u="file:///x")) is None
    assert verified(key.token(claims(), jwk=other.jwk)) is not None


def test_a_token_signed_by_hmac_with_the_public_key_is_refused(tmp_path):
    for algorithm in ("RS256", "ES256"):
        key = Key(algorithm)
        found = tokens(issuer(keys_file(tmp_path / "k", key.jwk), algorithm))
        for secret in (key.pem, key.pem.strip(), json.dumps(key.jwk).encode(), b""):
            assert found.verified("ann", by_public_key(key, claims(), secret)) is None


def test_a_token_is_bounded_in_size_and_in_depth(verified, key):
    room = CREDENTIAL_BYTES_MAX - len(key.token(claims(pad="")))
    longest = key.token(claims(pad="x" * (room * 3 // 4 - 2)))
    assert CREDENTIAL_BYTES_MAX - 8 <= len(longest) <= CREDENTIAL_BYTES_MAX
    assert verified(longest) is not None
    assert verified(key.token(claims(pad="x" * room))) is None, "the signature is right, the size is not"

    def nested(depth):
        return json.dumps(claims(pad="HERE")).replace('"HERE"', "[" * depth + "]" * depth).encode()

    assert verified(key.token(nested(DEPTH_MAX - 1))) is not None
    assert verified(key.token(nested(DEPTH_MAX))) is None
    assert verified(key.token(claims(pad="[" * 900))) is not None, "brackets in a string are no nesting"
    for text in (nested(1_300), b"[" * 2_900, b'{"a":' * 500, b'"' * 2_900, b"\\" * 2_900):
        assert verified(key.token(text)) is None
        assert verified(b64(text).encode() + b".e30.e30") is None, "in the header"


def test_a_key_that_was_rotated_out_is_refused_and_a_wrong_file_changes_nothing(tmp_path, caplog):
    old, new, path = Key("EdDSA", "old"), Key("EdDSA", "new"), tmp_path / "jwks.json"
    found = tokens(issuer(keys_file(path, old.jwk), "EdDSA"))

    def taken():
        return [found.verified("ann", each.token(claims())) is not None for each in (old, new)]

    def replaced(*keys):
        keys_file(path, *keys)
        os.utime(path, ns=(len(seen), len(seen)))
        seen.append(taken())

    seen = [taken()]
    replaced(old.jwk, new.jwk)
    replaced(new.jwk)
    path.write_text("{")
    seen.append(taken())
    path.unlink()
    seen.append(taken())
    assert seen == [[True, False], [True, True], [False, True], [False, True], [False, True]]
    assert caplog.text.count("not used") >= 2


def test_a_token_without_a_key_id_is_verified_by_the_only_key(tmp_path):
    one, two = Key("ES256", None), Key("ES256", "two")
    found = tokens(issuer(keys_file(tmp_path / "k", one.jwk), "ES256"))
    assert found.verified("ann", one.token(claims())) is not None
    found = tokens(issuer(keys_file(tmp_path / "k", one.jwk, two.jwk), "ES256"))
    assert found.verified("ann", one.token(claims())) is None, "either key could be meant"
    assert found.verified("ann", two.token(claims())) is not None


def test_an_issuer_names_no_principal_of_the_rules(key, tmp_path):
    found = tokens(issuer(keys_file(tmp_path / "k", key.jwk), "ES256"), listed=("ann",))
    assert found.verified("ann", key.token(claims())) is None
    assert found.verified("bob", key.token(claims(sub="bob"))) is not None


def test_issuers_do_not_share_their_keys(key, tmp_path):
    other = Key("ES256")
    both = [issuer(keys_file(tmp_path / f"k{at}", each.jwk), "ES256") for at, each in enumerate((key, other))]
    [first, second] = both
    second = type(second)("other", "https://other.example", *[getattr(second, name) for name in second.__slots__[2:]])
    found = tokens(first, second)
    assert found.verified("ann", key.token(claims())) is not None
    assert found.verified("ann", key.token(claims(iss="https://other.example"))) is None
    assert found.verified("ann", other.token(claims(iss="https://other.example"))) is not None


ES = Key("ES256").jwk
WRONG_KEYS = {
    "no JSON": ("{", "a JSON object"),
    "a list": ("[]", "a JSON object"),
    "no keys": ('{"keys": []}', "1 to 16 keys"),
    "too many": (json.dumps({"keys": [ES] * 17}), "1 to 16 keys"),
    "no object": ('{"keys": [3]}', "key 1 is no JSON object"),
    "symmetric": ('{"keys": [{"kty": "oct", "k": "AAAA"}]}', "private or symmetric"),
    "private": (json.dumps({"keys": [ES | {"d": "AAAA"}]}), "private or symmetric"),
    "of another use": (json.dumps({"keys": [ES | {"use": "enc"}]}), "no key for ES256"),
    "of another algorithm": (json.dumps({"keys": [Key("EdDSA").jwk]}), "no key for ES256"),
    "of a number": (json.dumps({"keys": [ES | {"alg": 3}]}), "`alg` must be text"),
    "with an id of a number": (json.dumps({"keys": [ES | {"kid": 3}]}), "`kid` must be text"),
    "twice": (json.dumps({"keys": [ES, ES]}), "two of its keys have one"),
    "not on its curve": (json.dumps({"keys": [ES | {"x": ES["y"]}]}), "key 1 cannot be read"),
    "without a part": (json.dumps({"keys": [{"kty": "EC", "crv": "P-256"}]}), "key 1 cannot be read"),
    "nested": ("[" * 60_000, "a JSON object"),
    "too long": (" " * 70_000, "more than 65,536 bytes"),
}


@pytest.mark.parametrize("what", WRONG_KEYS)
def test_wrong_keys_are_refused_with_a_sentence(tmp_path, what):
    text, sentence = WRONG_KEYS[what]
    path = tmp_path / "jwks.json"
    path.write_text(text)
    with pytest.raises(CannotStart, match=sentence) as found:
        tokens(issuer(str(path), "ES256"))
    assert str(path) in str(found.value)


def test_a_short_rsa_key_and_a_file_that_others_may_change_are_refused(key, tmp_path):
    path = tmp_path / "k"
    short = {"kty": "RSA", "n": b64((2**1023 + 1).to_bytes(128, "big")), "e": "AQAB"}
    with pytest.raises(CannotStart, match="fewer than 2,048 bits"):
        tokens(issuer(keys_file(path, short), "RS256"))
    keys_file(path, key.jwk)
    path.chmod(0o664)
    with pytest.raises(CannotStart, match="others may change it"):
        tokens(issuer(str(path), "ES256"))


def test_changed_bytes_of_a_token_never_pass(verified, key):
    chance, whole = random.Random(5), key.token(claims())
    assert verified(whole) is not None
    for _ in range(300):
        at = chance.randrange(len(whole))
        other = bytes([chance.choice(b"ABCabc019-_.{}= \x00\xff")])
        if whole[at : at + 1] != other:
            assert verified(whole[:at] + other + whole[at + 1 :]) is None, at
        assert verified(whole[:at]) is None
    for last in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=":
        assert (verified(whole[:-1] + bytes([last])) is None) is (last != whole[-1]), "one form only"
