"""Every option of every engine of the registry can be set in the topology file, with the same bounds and values."""

from __future__ import annotations

import pytest

from tamis.configs.sections.engine import EngineSettings
from tamis.native import ENGINES, EngineOption, Table

EVERY = [(engine.name, option) for engine in ENGINES.values() for option in engine.options.values()]


@pytest.mark.parametrize(("engine", "option"), EVERY, ids=lambda value: getattr(value, "name", value))
def test_an_option_takes_what_the_engine_takes(engine: str, option: EngineOption) -> None:
    known: list[int | str] = list(option.values) or [option.least, option.most]
    for value in known:
        for written in {value, str(value)}:
            settings = EngineSettings.model_validate({"name": engine, "options": {option.name: written}})
            assert settings.options == {option.name: value}
        Table(engine, options=settings.options).close()
    for wrong in ("quantum", option.most + 1, f"{option.most + 1}", -1, [option.least], {}):
        with pytest.raises(ValueError, match=rf"options\.{option.name}\n +must be {option.allowed}"):
            EngineSettings.model_validate({"name": engine, "options": {option.name: wrong}})
    for other in ENGINES.values():
        if option.name not in other.options:
            has = f"its options are {', '.join(other.options)}" if other.options else "it has none"
            with pytest.raises(ValueError, match=f"is no option of engine {other.name}; {has}"):
                EngineSettings.model_validate({"name": other.name, "options": {option.name: known[0]}})


def test_a_size_may_have_its_unit() -> None:
    for written in ("64 MiB", "67_108_864", 67_108_864):
        settings = EngineSettings.model_validate({"name": "interval", "options": {"tree_bytes": written}})
        assert settings.options == {"tree_bytes": 67_108_864}
