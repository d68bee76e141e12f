"""The token file."""

from __future__ import annotations

import os

import pytest

from tamis.router.access.admitted import Admitted, Denial
from tamis.router.clients.tokens import TokenFile, digest_of
from tamis.serving.cannot_start import CannotStart


def written(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def admits(tokens: TokenFile, name: str, token: bytes) -> bool:
    """A admitted names the token that it was given for, a denial says why."""
    found = tokens.admits(name, token)
    if isinstance(found, Admitted):
        return found.token_digest == digest_of(token) and tokens.still_admits(name, digest_of(token))
    assert found == Denial("this token is not valid for this name")
    return False


def test_a_name_comes_in_with_its_own_token_or_with_that_of_anybody(tmp_path):
    tokens = TokenFile(written(tmp_path / "t", "# sensors\n\nalice  one\n* any\nbob two\n"))
    assert admits(tokens, "alice", b"one")
    assert not admits(tokens, "alice", b"any"), "alice has a line of her own"
    assert not admits(tokens, "*", b"two")
    assert admits(tokens, "stranger", b"any")
    assert not admits(tokens, "alice", b"two")
    assert not admits(tokens, "stranger", b"one")
    assert not admits(tokens, "*", b"one")


def test_no_token_is_never_right(tmp_path):
    tokens = TokenFile(written(tmp_path / "t", "alice one\n"))
    assert not admits(tokens, "nobody", b"")
    assert not admits(tokens, "alice", b"")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_a_file_that_others_may_use_is_refused(tmp_path, mode):
    with pytest.raises(CannotStart, match="chmod 600"):
        TokenFile(written(tmp_path / "t", "alice one", mode))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("alice", "line 1: a line has a name and a token"),
        ("a b\na c", "line 2: a has a token already"),
        ("a b c", "line 1"),
        ("a\u202e b", "line 1: a name is printable text"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, text, what):
    with pytest.raises(CannotStart, match=what):
        TokenFile(written(tmp_path / "t", text))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CannotStart, match="No such file"):
        TokenFile(str(tmp_path / "none"))


def test_a_changed_file_is_used_at_the_next_greeting_and_a_broken_one_is_not(tmp_path, caplog):
    path = tmp_path / "t"
    tokens = TokenFile(written(path, "alice one"))
    written(path, "alice other")
    os.utime(path, ns=(1, 1))
    assert not admits(tokens, "alice", b"one")
    assert admits(tokens, "alice", b"other")
    written(path, "alice")
    assert admits(tokens, "alice", b"other")
    assert "not used" in caplog.text
    path.unlink()
    assert admits(tokens, "alice", b"other")
