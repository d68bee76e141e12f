"""The page about access: its rules are valid, its commands print what it says, and its reference is a fresh print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.configs.access import reference
from tamis.configs.access.section import AccessSection, IssuerConfig, PrincipalConfig, RoleConfig
from tests.docs.commands import ROOT

PAGE = (ROOT / "docs" / "access.md").read_text()
REFERENCE = (ROOT / "docs" / "reference" / "access.md").read_text()


def test_the_commands_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [rules] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    Path("rules.yaml").write_text(rules)
    Path("rules.yaml").chmod(0o640)
    [block] = re.findall(r"(?:^    .*\n)+", PAGE[PAGE.index("    $ tamis") :], re.MULTILINE)[:1]
    said = [part.split("\n", 1) for part in re.sub(r"^    ", "", block, flags=re.MULTILINE).split("$ tamis ")[1:]]
    assert len(said) == 3
    for command, printed in said:
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr() == (printed, "")


def test_the_reference_is_fresh() -> None:
    assert reference.page() == REFERENCE, "run python -m tamis.configs.access.reference > docs/reference/access.md"


def test_the_reference_names_every_key() -> None:
    for model in (AccessSection, RoleConfig, PrincipalConfig, IssuerConfig):
        for key in model.model_fields:
            assert f"| `{key}` |" in REFERENCE
