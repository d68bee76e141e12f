"""The blocking faces of the client are those that are generated from the faces for asyncio now."""

from __future__ import annotations

import ast

import pytest

from tests.client.generate import FACES, blocking, path_of


@pytest.mark.parametrize("face", FACES)
def test_a_blocking_face_is_fresh(face: str) -> None:
    generated, written = blocking(face), path_of(face).read_text()
    assert ast.unparse(ast.parse(written)) == ast.unparse(ast.parse(generated)), "run python -m tests.client.generate"
    assert written.partition("\n")[0] == generated.partition("\n")[0]


def test_nothing_else_stands_beside_them() -> None:
    folder = path_of(FACES[0]).parent
    assert {path.stem for path in folder.glob("*.py")} == {*FACES, "__init__"}
