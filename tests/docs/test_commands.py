"""Every command on every page is one that exists, and is run by a test, or its page says why not.

    here          pages of HERE: their commands are run one after the other, in a folder with a network.yaml of a line
                  of three routers on ports of our own
    by its test   pages of TESTED: the test that runs them
    not run       `<!-- not run: REASON -->` above the block

A command that is not run still names a command, options, module or target that there is.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import click
import pytest

from tamis.cli.main import root
from tests.docs.commands import PAGES, ROOT, PageCommand, commands_in, commands_of
from tests.docs.sandbox import Sandbox

TESTED = {
    "docs/access.md": "tests/docs/test_access_page.py",
    "docs/how-to/three-teams.md": "tests/docs/test_three_teams.py",
    "docs/tutorial.md": "tests/docs/test_tutorial.py",
    "docs/tutorial-durable.md": "tests/docs/test_tutorial_durable.py",
    "docs/reference/dialects.md": "tests/docs/test_dialects_page.py",
    "docs/from/cloudevents.md": "tests/docs/test_from_pages.py",
    "docs/from/eventbridge.md": "tests/docs/test_from_pages.py",
    "docs/from/jms.md": "tests/docs/test_from_pages.py",
    "docs/from/kafka.md": "tests/docs/test_from_pages.py",
    "docs/from/mqtt.md": "tests/docs/test_from_pages.py",
    "docs/from/nats.md": "tests/docs/test_from_pages.py",
    "docs/from/rabbitmq.md": "tests/docs/test_from_pages.py",
    "docs/contributing/add-an-engine.md": "tests/docs/test_add_an_engine.py",
    "docs/contributing/add-a-strategy.md": "tests/docs/test_add_a_strategy.py",
    "docs/design/simulator.md": "tests/simulate/test_run.py",
}
GENERATED = "docs/reference/cli.md"
"""The examples of each command, about files of the reader's; they are looked at, and not run."""
HERE = {
    "docs/how-to/follow-a-message.md": "tamis trace --dry-run",
    "docs/how-to/durable-subscriptions.md": "",
    "docs/how-to/link-routers.md": "",
    "docs/how-to/lose-a-router.md": "",
    "docs/how-to/records.md": "tamis records tail",
    "docs/how-to/run-a-router.md": "curl",
    "docs/how-to/run-several.md": "tamis restart",
    "docs/how-to/choose-a-strategy.md": "",
    "docs/reference/daemon.md": "curl",
}
"""Pages whose commands are run here, and how the first of them begins for which the network has to be up already."""
ADDED = {"docs/how-to/durable-subscriptions.md"}
"""Pages of HERE whose first block of YAML is added to network.yaml, as they tell their readers."""
COMMANDS = [command for page in PAGES for command in commands_of(page)]

LOOKED_AT = [command for command in COMMANDS if "/contributing/" not in command.page]
"""Those of guides name what their readers are about to make."""
PAGE = """\
Text

    $ tamis up \\
        --detach
    said

```sh
make run
# more
```

<!-- not run: it is long -->

    tamis pub a=1 | tee out
    no command

```python
tamis.connect()
```

    tamis top [--once]
"""


def test_a_command_is_found_however_it_is_written() -> None:
    found = commands_in(PAGE, "page.md")
    assert [(each.line, each.text, each.reason) for each in found] == [
        (3, "tamis up --detach", ""),
        (8, "make run", ""),
        (14, "tamis pub a=1 | tee out", "it is long"),
    ]
    assert list(found[2].invocations()) == [["tamis", "pub", "a=1"], ["tee", "out"]]


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 200


def test_every_command_is_run_or_its_page_says_why_not() -> None:
    known = {GENERATED, *TESTED, *HERE}
    left = [str(command) for command in COMMANDS if not command.reason and command.page not in known]
    assert not left, "run these (tests/docs/test_commands.py), or write <!-- not run: REASON --> above their blocks"


@pytest.mark.parametrize(("page", "test"), TESTED.items(), ids=lambda path: Path(path).stem)
def test_the_test_of_a_page_is_there(page: str, test: str) -> None:
    assert (ROOT / test).is_file()
    assert commands_of(ROOT / page)


REASONS = sorted({(command.page, command.reason) for command in COMMANDS if "test_" in command.reason})


@pytest.mark.parametrize(("page", "reason"), REASONS)
def test_a_test_that_stands_in_for_commands_is_named_by_its_path(page: str, reason: str) -> None:
    named = re.findall(r"[\w/]*\b(?:tests/|test_)[\w/]*(?:\.py)?", reason)
    assert named
    for path in named:
        assert path.startswith("tests/"), f"{page} names {path} without its folder"
        found = ROOT / path
        assert found.is_dir() or "def test_" in found.read_text(), f"{page}: no test is in {path}"


MEASURED = sorted(
    {
        module
        for command in COMMANDS
        if "tests/bench" in command.reason
        for module in re.findall(r"tamis\.bench\.([\w.]+)", command.text)
    }
)


@pytest.mark.parametrize("module", MEASURED)
def test_a_benchmark_that_a_page_does_not_run_is_run_by_a_test(module: str) -> None:
    *folders, name = module.split(".")
    tests = ROOT.joinpath("tests", "bench", *folders)
    imported = re.compile(rf"{re.escape('.'.join(('tamis.bench', *folders)))}(\.| import .*\b){name}\b")
    assert any(imported.search(file.read_text()) for file in tests.glob("test_*.py"))


@pytest.mark.parametrize("command", LOOKED_AT, ids=lambda command: f"{command.page}:{command.line}")
def test_what_a_command_names_is_there(command: PageCommand) -> None:
    for words in filter(None, command.invocations()):
        program = words[0].removeprefix(".venv/bin/")
        if program == "tamis":
            check_words(words[1:])
        elif re.fullmatch(r"python3?", program) and words[1:2] == ["-m"]:
            assert importlib.util.find_spec(words[2]) is not None or words[2] == "venv", words[2]
        elif program == "make":
            targets = [word for word in words[1:] if "=" not in word]
            assert all(re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE) for target in targets)


def check_words(words: list[str]) -> None:
    """AssertionError unless the command line takes `words`, whether or not the files that they name are here."""
    command: click.Command = root
    given, context = words, None
    try:
        while True:
            name = command.name or "tamis"
            context = command.make_context(name, list(given), parent=context)
            if not isinstance(command, click.Group):
                return
            name, found, given = command.resolve_command(context, [*context._protected_args, *context.args])
            assert found is not None
            command = found
    except click.exceptions.Exit:
        return  # --help, --version
    except click.BadParameter as error:
        if not re.search("does not exist|No such file", error.message):
            pytest.fail(error.message)
    except click.UsageError as error:
        pytest.fail(error.format_message())


# --- run here --------------------------------------------------------------------------------------------------------


def start_network(sandbox: Sandbox) -> None:
    code, out = sandbox.run("tamis up --detach network.yaml")
    assert code == 0, out
    sandbox.run("tamis pub severity=6")


def add_yaml(sandbox: Sandbox, page: str) -> None:
    block = page.partition("```yaml\n")[2].partition("```")[0]
    assert block
    file = sandbox.folder / "network.yaml"
    file.write_text(block + file.read_text())


@pytest.mark.slow
@pytest.mark.parametrize(("page", "first"), HERE.items(), ids=lambda value: Path(str(value)).stem)
def test_the_commands_of_a_page_do_what_it_says(tmp_path: Path, page: str, first: str) -> None:
    sandbox = Sandbox(tmp_path)
    if page in ADDED:
        add_yaml(sandbox, (ROOT / page).read_text())
    commands = [command for command in commands_of(ROOT / page) if not command.reason]
    assert commands
    assert not first or any(command.text.startswith(first) for command in commands)
    is_up = not first
    try:
        for command in commands:
            if not is_up and command.text.startswith(first):
                start_network(sandbox)
                is_up = True
            code, out = sandbox.run(command.text)
            assert code == 0, f"{command}\n{out}"
            assert "Traceback" not in out, f"{command}\n{out}"
    finally:
        sandbox.run("tamis down network.yaml")
