"""The spaces that a router checks by: from its file, its data folder and those who ask; narrowings are asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tamis.native import Switch, SwitchOptions, Table
from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.spaces import Space, SpaceSet, pack, space_from
from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.router.daemon.health import Health
from tamis.router.daemon.spaces_in_force import SpacesInForce, WantedSpace
from tamis.router.daemon.stored_spaces import StoredSpaces


def trades(most: int = 10, version: int = 1, **more: object) -> Space:
    return space_from("trades", {"version": version, "attributes": {"price": {"integer": [0, most]}, **more}})


def declared(*spaces: Space, unknown: bool = False) -> SpaceSet:
    return SpaceSet({space.name: space for space in spaces}, refuses_unknown=unknown)


@pytest.fixture
def switch() -> Iterator[Switch]:
    table = Table()
    made = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9))
    yield made
    made.close()
    table.close()


class Alone:
    """The spaces of a router that stands alone."""

    def __init__(self, switch: Switch, said: SpaceSet, folder: Path | None = None) -> None:
        self.health = Health()
        self.later: list[Callable[[], None]] = []
        kept = StoredSpaces(None if folder is None else str(folder))
        self.spaces = SpacesInForce(switch, said, kept, self.health, lambda _, what: self.later.append(what))
        self.switch = switch

    @property
    def versions(self) -> dict[str, int]:
        assert [*self.switch.spaces()] == [*self.spaces.set.spaces]
        return {name: space.version for name, space in self.spaces.set.spaces.items()}

    def put(self, space: Space, version: int | None = None, is_forced: bool = False) -> list[WantedSpace]:
        return self.spaces.change([WantedSpace(space.name, space, version)], is_forced)


def test_a_widening_is_made_at_once_and_a_narrowing_only_by_force(switch: Switch) -> None:
    router = Alone(switch, declared(trades(10)))
    assert [each.version for each in router.put(trades(20))] == [2]
    with pytest.raises(Refused, match="space trades: attribute price was an integer from 0 to 20, and is an integer f"):
        router.put(trades(5))
    assert router.spaces.set.spaces["trades"] == trades(20)
    assert [each.version for each in router.put(trades(5), is_forced=True)] == [3]
    assert router.versions == {"trades": 3}
    assert router.put(trades(5)) == []


def test_a_version_that_is_told_is_higher_than_the_one_that_holds(switch: Switch) -> None:
    router = Alone(switch, declared(trades(10, version=4)))
    with pytest.raises(Refused, match="version 4 is in force, and 4 is not higher; raise the version, or leave it out"):
        router.put(trades(20), version=4)
    assert router.put(trades(20), version=9)[0].version == 9
    router.put(trades(20), version=limits.INT_MAX)
    with pytest.raises(Refused, match="its version is the highest possible"):
        router.put(trades(30))


def test_all_changes_are_made_or_none_and_all_reasons_are_said(switch: Switch) -> None:
    router = Alone(switch, declared(trades(10)))
    new, bad = space_from("new", {}), space_from("bad", {"attributes": {"type": "string"}})
    wanted = [WantedSpace(each.name, each) for each in (new, trades(5), bad)]
    with pytest.raises(Refused) as refused:
        router.spaces.change(wanted, is_forced=False)
    assert "space trades: attribute price was" in str(refused.value)
    assert "space bad: attribute type is reserved: it names the space of a message" in str(refused.value)
    assert router.versions == {"trades": 1}


def test_changes_that_do_not_fit_together_are_all_refused(switch: Switch) -> None:
    router = Alone(switch, declared())
    room = limits.SPACES_MAX
    router.spaces._hold([SpaceStatement(f"s{number}", 1, b"") for number in range(room - 1)])
    two = [WantedSpace(name, space_from(name, {})) for name in ("one", "two")]
    with pytest.raises(Refused, match="the limit is 256 spaces of 1,048,576 bytes together, including withdrawn ones"):
        router.spaces.change(two, is_forced=True)
    assert (router.versions, len(router.spaces.known.held)) == ({}, room - 1)
    router.spaces.change(two[:1], is_forced=False)
    assert router.versions == {"one": 1}


def test_a_space_is_withdrawn_and_comes_back_under_a_later_version(switch: Switch) -> None:
    router = Alone(switch, declared(trades()))
    router.spaces.change([WantedSpace("trades", None)], is_forced=False)
    assert router.versions == {}
    assert router.put(trades(1))[0].version == 3
    router = Alone(switch, declared(trades(), unknown=True))
    with pytest.raises(Refused, match="its messages would be refused, because space_unknown is `refuse`"):
        router.spaces.change([WantedSpace("trades", None)], is_forced=False)


def test_what_is_known_beyond_the_file_survives_a_restart(switch: Switch, tmp_path: Path) -> None:
    router = Alone(switch, declared(trades(10)), tmp_path)
    router.put(trades(20))
    router.put(space_from("wider", {"open": True}))
    router.spaces.change([WantedSpace("gone", None)], is_forced=False)
    again = Alone(switch, declared(trades(10)), tmp_path)
    assert again.versions == {"trades": 2, "wider": 1}
    assert again.spaces.set.spaces["trades"] == trades(20)
    assert Alone(switch, declared(trades(10))).versions == {"trades": 1}
    assert Alone(switch, declared(trades(30, version=3)), tmp_path).spaces.set.spaces["trades"] == trades(30)


def test_statements_that_cannot_be_read_here_are_kept_too(switch: Switch, tmp_path: Path) -> None:
    router = Alone(switch, declared(), tmp_path)
    odd = SpaceStatement("odd", 5, b'\xff{"name"')
    router.spaces._hold([odd])
    router.spaces.keep()
    assert StoredSpaces(str(tmp_path)).read() == [odd]


@pytest.mark.parametrize(
    "text", ["{", "[1]\n", '["a", 0, ""]\n', '["a", 1, 2]\n', '["", 1, ""]\n', "[" * 100_000, "\xff"]
)
def test_a_file_that_holds_something_else_stops_no_start(
    switch: Switch, tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "spaces").write_text(text, encoding="latin-1")
    router = Alone(switch, declared(trades()), tmp_path)
    assert router.versions == {"trades": 1}
    assert "the file of spaces is not used" in caplog.text


def test_a_folder_that_cannot_be_written_is_an_alarm(switch: Switch, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    router = Alone(switch, declared(), tmp_path / "data")
    router.put(trades())
    assert router.versions == {"trades": 1}
    assert "spaces cannot be stored in" in router.health.recent[0].text


def test_a_file_that_is_read_again_is_asked_about_like_any_change(switch: Switch) -> None:
    router = Alone(switch, declared(trades(10)))
    router.spaces.plan_reload(declared(trades(20)))()
    assert (router.versions, router.spaces.set.spaces["trades"]) == ({"trades": 2}, trades(20))
    with pytest.raises(Refused, match="attribute price was an integer from 0 to 20"):
        router.spaces.plan_reload(declared(trades(5, version=3)))
    router.put(trades(5), is_forced=True)
    router.spaces.plan_reload(declared(trades(5, version=3)))()
    assert router.versions == {"trades": 3}
    router.spaces.plan_reload(declared(trades(5, version=3)))()
    router.spaces.plan_reload(declared())  # planned, and not taken
    assert router.versions == {"trades": 3}


def test_a_space_that_leaves_the_file_is_withdrawn(switch: Switch) -> None:
    router = Alone(switch, declared(trades()))
    router.spaces.plan_reload(declared())()
    assert router.versions == {}


def test_a_file_that_says_less_than_what_holds_changes_nothing_and_the_log_says_so(
    switch: Switch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Alone(switch, declared(trades(10)), tmp_path).put(trades(20))
    router = Alone(switch, declared(trades(5)), tmp_path)
    assert router.spaces.set.spaces["trades"] == trades(20)
    assert "has an older version of a space: raise its `version` there" in caplog.text


def test_a_space_that_declares_what_names_spaces_here_is_not_checked(switch: Switch) -> None:
    router = Alone(switch, SpaceSet({}, naming="price"))
    router.spaces._hold([SpaceStatement("trades", 1, pack(trades()))])
    assert router.versions == {}
    assert "space trades is not enforced: it declares price" in router.health.recent[0].text
