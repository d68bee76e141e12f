"""Who owns what a client makes: the listed name whose token it has shown."""

from __future__ import annotations

import pytest

from tamis.router.access.admitted import Admitted, Denial
from tamis.router.clients.principals import principal_of
from tamis.router.clients.tokens import TokenFile


@pytest.mark.parametrize(
    ("name", "listed", "owner"),
    [
        ("press", {"press"}, "press"),
        ("press/7", {"press"}, "press"),
        ("press/7/left", {"press"}, "press"),
        ("press/7", {"press", "press/7"}, "press/7"),
        ("press/7/left", {"press", "press/7"}, "press"),
        ("press7", {"press"}, "press7"),
        ("pres/s", {"press"}, "pres/s"),
        ("/press", {"press"}, "/press"),
        ("/", {""}, ""),
        ("desk", set(), "desk"),
    ],
)
def test_it_is_the_line_of_the_name_or_else_of_its_first_part(name, listed, owner):
    assert principal_of(name, listed.__contains__) == owner


@pytest.fixture
def tokens(tmp_path):
    file = tmp_path / "tokens"
    file.touch(mode=0o600)
    file.write_text("press one\npress/7 seven\ntwin one\n* any\n")
    return TokenFile(str(file))


@pytest.mark.parametrize(
    ("name", "token", "owner"),
    [
        ("press", b"one", "press"),
        ("press/7", b"seven", "press/7"),
        ("press/8", b"any", "press/8"),  # it has not shown the token of `press`
        ("press/8", b"one", "press"),
        ("press/8/left", b"one", "press"),
        ("desk", b"any", "desk"),
        ("*/desk", b"any", "*/desk"),
    ],
)
def test_who_comes_in_by_the_token_of_anybody_owns_nothing_of_a_listed_name(tokens, name, token, owner):
    admitted = tokens.admits(name, token)
    assert isinstance(admitted, Admitted)
    assert admitted.principal == owner
    assert tokens.still_admits(name, admitted.token_digest)


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("press/7", b"one"),
        ("press/8", b"seven"),
        ("press/8", b""),
        ("pres/8", b"one"),
        ("desk/8", b"one"),
        ("/press", b"one"),
    ],
)
def test_a_sub_name_is_admitted_by_the_token_of_its_line_alone(tokens, name, token):
    assert isinstance(tokens.admits(name, token), Denial)
