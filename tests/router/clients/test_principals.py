"""Who owns what a client makes: the listed name whose token it has shown."""

from __future__ import annotations

import pytest

from tamis.router.access.admitted import Admitted
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
        ("desk", b"any", "desk"),
        ("*/desk", b"any", "*/desk"),
    ],
)
def test_who_comes_in_by_the_token_of_anybody_owns_nothing_of_a_listed_name(tokens, name, token, owner):
    admitted = tokens.admits(name, token)
    assert isinstance(admitted, Admitted)
    assert admitted.principal == owner
