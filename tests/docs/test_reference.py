"""What a program or a person can name is named in the reference: functions, classes, members and arguments of the
client and of `tamis.testing`, pages of administration, and variables of the environment.

Commands and options are held by test_cli_page.py, keys of the topology file by tests/configs/test_files.py,
metrics by tests/configs/test_monitoring.py.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis
import tamis.blocking
import tamis.testing
from tamis.client.old_names import OldConsumer, OldVerbs
from tamis.protocol.old_names import OldReport
from tamis.router.admin.pages import PAGES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REPORTS = (tamis.TraceRecord, tamis.DryRunReport)
"""Their fields stand on the page of the wire."""
CALLED = (
    *(tamis.Client, tamis.Subscription, tamis.Responder, tamis.Question),
    *(tamis.blocking.Client, tamis.blocking.Subscription, tamis.blocking.Responder),
)
"""Classes whose methods take arguments that a user writes."""
OF_BUILDS = {"TAMIS_CFLAGS", "TAMIS_WERROR", "TAMIS_NATIVE"}
"""Named in native/build.py."""
OF_TESTS = {"TAMIS_PLANT_BUG"}
OF_CLICK = {"TAMIS_COMPLETE"}
OLD = {*vars(OldVerbs), *vars(OldConsumer), *vars(OldReport), "doubts", "terms", "WAY_CHANGED"} - {
    "durable",
    "durables",
    "consume",
    "cancel",
    "durable_count",
}
"""Names of the previous version, on no page."""


CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def code_of(page: str) -> str:
    """What stands in backticks and blocks: that a word occurs in a sentence names nothing."""
    return "\n".join(CODE.findall(page))


def is_named(word: str, code: str) -> bool:
    return re.search(rf"\b{word}\b", code) is not None


CLIENT = code_of((DOCS / "reference" / "client.md").read_text())
WIRE = code_of((DOCS / "reference" / "wire.md").read_text())


def public(module: object) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_")} - {"annotations"}


def members(of: type) -> set[str]:
    """Methods and attributes that do not begin with an underscore, those of our own base classes included."""
    found: set[str] = set()
    for each in of.__mro__:
        if each.__module__.partition(".")[0] == "tamis":
            found |= {*vars(each), *inspect.get_annotations(each), *getattr(each, "__slots__", ())}
    return {name for name in found - OLD if not name.startswith("_")}


def unnamed() -> Iterator[str]:
    """Whatever of the client is on no page."""
    for module in (tamis, tamis.blocking):
        for name in sorted(public(module)):
            thing = getattr(module, name)
            page = CLIENT + WIRE if thing in REPORTS else CLIENT
            if not is_named(name, page):
                yield name
            if inspect.isclass(thing):
                yield from (f"{name}.{each}" for each in sorted(members(thing)) if not is_named(each, page))
            elif inspect.isfunction(thing):
                yield from (
                    f"{name}({each}=)" for each in inspect.signature(thing).parameters if not is_named(each, page)
                )
    for called in CALLED:
        for name in sorted(members(called)):
            method = getattr(called, name)
            for each in inspect.signature(method).parameters if inspect.isfunction(method) else ():
                if each != "self" and not is_named(each, CLIENT):
                    yield f"{called.__name__}.{name}({each}=)"


def test_the_page_of_the_client_names_all_of_it() -> None:
    assert list(unnamed()) == []


def test_what_is_looked_for_is_more_than_nothing() -> None:
    assert {"publish", "subscribe", "is_connected", "request"} <= members(tamis.Client)
    assert {"Client", "Message", "connect"} <= public(tamis)


def test_the_guide_to_testing_names_all_of_it() -> None:
    page = (DOCS / "how-to" / "test-your-program.md").read_text()
    assert [name for name in tamis.testing.__all__ if not is_named(name, code_of(page))] == []


@pytest.mark.parametrize(("path", "page"), [each for each in PAGES.items() if not each[0].startswith("/kept")])
def test_the_page_of_the_daemon_names_every_page_of_administration(path: str, page) -> None:
    text = (DOCS / "reference" / "daemon.md").read_text()
    assert re.search(rf"`(GET )?{path}\b" if page.method == "GET" else rf"`POST {path}\b", text)


def test_every_variable_is_on_a_page() -> None:
    code = [
        *(ROOT / "tamis").rglob("*.py"),
        *(each for name in ("router", "analysis", "configs", "testing") for each in (ROOT / name).rglob("*.py")),
    ]
    used = {name for file in code for name in re.findall(r"TAMIS_[A-Z_]+[A-Z]", file.read_text())}
    said = "".join(page.read_text() for page in [ROOT / "README.md", *DOCS.rglob("*.md")])
    assert "TAMIS_URL" in used
    assert used - OF_BUILDS - OF_TESTS - OF_CLICK - {name for name in used if is_named(name, said)} == set()
