"""What `import tamis` offers, and what stays away until it is asked for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tamis
from tamis.client.walker import NoWalker, new_walker

PAGE = (Path(__file__).parent.parent.parent / "docs" / "reference" / "client.md").read_text()


@pytest.mark.parametrize("name", tamis.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    assert getattr(tamis, name) is not None
    assert re.search(rf"\b{name}\b", PAGE)


@pytest.mark.parametrize("name", tamis.GapReason.__members__)
def test_every_reason_is_documented(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tamis.nonsense  # noqa: B018


def test_both_clients_have_the_same_methods() -> None:
    def methods(client: type) -> set[str]:
        return {name for name in vars(client) if not name.startswith("_")}

    assert methods(tamis.Client) == methods(tamis.blocking.Client)
    assert methods(tamis.blocking.Subscription) - methods(tamis.Subscription) == {"receive"}


@pytest.mark.slow
def test_a_client_loads_neither_router_nor_pydantic_nor_uvloop() -> None:
    code = "import sys, tamis; tamis.connect('tamis://h:1'); tamis.blocking; "
    code += "print([m for m in ('pydantic', 'tamis.router', 'tamis.configs', 'uvloop', 'yaml') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


def test_without_the_extension_everything_is_read_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not isinstance(new_walker(), NoWalker)
    monkeypatch.setitem(sys.modules, "tamis.native.deliveries", None)
    assert isinstance(new_walker(), NoWalker)
