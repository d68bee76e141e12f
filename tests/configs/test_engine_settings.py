"""Every option of every engine of the registry can be set in the topology file, with the same bounds and values."""

from __future__ import annotations

import pytest

from tamis.configs.sections.engine import EngineSettings
from tamis.native import ENGINES, EngineOption, Table

EVERY = [(engine.name, option) for engine in ENGINES.values() for option in engine.options.values()]


def test_the_file_has_the_options_of_the_registry_and_no_others() -> None:
    assert set(EngineSettings.model_fields) - {"name"} == {option.name for _, option in EVERY}


@pytest.mark.parametrize(("engine", "option"), EVERY, ids=lambda value: getattr(value, "name", value))
def test_an_option_takes_what_the_engine_takes(engine: str, option: EngineOption) -> None:
    known: list[int | str] = list(option.values) or [option.least, option.most]
    for value in known:
        settings = EngineSettings.model_validate({"name": engine, option.name: value})
        assert settings.options == {option.name: value}
        Table(engine, options=settings.options).close()
    wrong = "quantum" if option.values else option.most + 1
    with pytest.raises(ValueError, match=option.name):
        EngineSettings.model_validate({"name": engine, option.name: wrong})
    others = [other for other in ENGINES.values() if option.name not in other.options]
    with pytest.raises(ValueError, match=f"is a setting of engine .*{engine}.*, not of {others[0].name}"):
        EngineSettings.model_validate({"name": others[0].name, option.name: known[0]})
