"""What `import tamis` offers, and what stays away until it is asked for."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

import tamis
from tamis.client.connection.walker import NoWalker, new_walker

PAGE = (Path(__file__).parent.parent.parent / "docs" / "reference" / "client.md").read_text()


@pytest.mark.parametrize("name", tamis.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    assert getattr(tamis, name) is not None
    assert re.search(rf"\b{name}\b", PAGE)


@pytest.mark.parametrize("name", [each.name for each in tamis.GapReason])
def test_every_reason_is_documented(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tamis.nonsense  # noqa: B018


def test_both_clients_have_the_same_methods() -> None:
    def methods(client: type) -> set[str]:
        return {name for name in dir(client) if not name.startswith("_")}

    assert methods(tamis.Client) == methods(tamis.blocking.Client)
    assert methods(tamis.blocking.Subscription) == methods(tamis.Subscription)


def test_both_clients_take_the_same_arguments() -> None:
    def arguments(call: Callable[..., object]) -> list[str]:
        return list(inspect.signature(call).parameters)

    assert arguments(tamis.connect) == arguments(tamis.blocking.connect)
    for name in (name for name in dir(tamis.Client) if not name.startswith("_")):
        a, b = getattr(tamis.Client, name), getattr(tamis.blocking.Client, name)
        assert isinstance(a, property) or arguments(a) == arguments(b), name


@pytest.mark.parametrize("of", [tamis.Client, tamis.Subscription, tamis.blocking.Client, tamis.blocking.Subscription])
def test_every_public_method_says_what_it_does(of: type) -> None:
    assert [name for name, each in vars(of).items() if not name.startswith("_") and not each.__doc__] == []


def test_a_message_shows_what_applications_use() -> None:
    public = {name for name in dir(tamis.Message) if not name.startswith("_")}
    table = PAGE.partition("| of a `Message` | |")[2].partition("\n\n")[0]
    assert public == {
        *(
            "attributes",
            "frame_bytes",
            "get",
            "id",
            "is_from",
            "json",
            "matched",
            "own",
            "payload",
            "publish_time_ns",
            "time",
        )
    }
    assert public <= set(re.findall(r"\.([a-z_]+)", table))
    assert [name for name in public if not inspect.getdoc(getattr(tamis.Message, name))] == []


def test_a_shell_can_complete_every_name() -> None:
    assert set(tamis.__all__) | {"__version__"} <= set(dir(tamis))
    assert tamis.__version__ == version("tamis")


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
