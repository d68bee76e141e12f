"""The parts of the results page, in the order in which they are measured: the largest last.

Law: a section is a title, a sentence on what is in it, a table, the rows behind it, and perhaps a plot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from tamis.bench.matching import churn, figures, instructions, libraries
from tamis.bench.matching.adversary.families import FAMILIES
from tamis.bench.matching.adversary.page import page_of, remark, worst_row
from tamis.bench.matching.adversary.search import Search, ordinary_us
from tamis.bench.matching.contenders import Contender, Setup, contenders
from tamis.bench.matching.figures import setting
from tamis.bench.matching.libraries.contest import Contest, LibraryFailed, contest
from tamis.bench.matching.match import Result
from tamis.bench.matching.report import label, plain
from tamis.bench.matching.runner import Measured, Runner, size_label, workload_of
from tamis.bench.tables import markdown, percent, short
from tamis.native import Table
from tamis.protocol.limits import FILTERS_PER_CLIENT

ENGINES = ("sff", "tamis")
ISSUERS, LINKS = 1_000, 8
GROUPED = (20_000, 200_000, 1_000_000)
UPDATED: tuple[tuple[int, int | None], ...] = (
    *((20_000, 20), (200_000, None)),
    *((1_000_000, 20), (1_000_000, 200), (1_000_000, None)),
)
COUNTED = ((20_000, 20), (200_000, 200))
PEER_SIZES = (2_000, 20_000, 200_000)
PEER_INTERFACES = 20
ADVERSARY_TRIES, ADVERSARY_SECONDS = 60, 120.0  # of each family


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    about: str
    table: str
    rows: list[Any]
    plots: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


# --- of plain runs ---------------------------------------------------------------------------------------------------


def targets(runner: Runner, filters_max: int) -> Section:
    return _plain("Targets", "The sizes that targets are set for.", figures.targets(runner, filters_max))


def even_spread(runner: Runner, filters_max: int) -> Section:
    about = "As many filters on every interface (`sigcomm03-even`); elsewhere their number is drawn, as paper 004 says."
    return _plain("Even spread", about, figures.even(runner, filters_max))


def growth(runner: Runner, filters_max: int) -> Section:
    measured = figures.growth(runner, filters_max)
    about = "Time per message as the table grows; F is one interface for each filter."
    return _plain("Growth", about, measured, {"matching": figures.draw_growth(measured)})


def beyond(runner: Runner, filters_max: int) -> Section:
    """The plot of growth is drawn again, with what was added."""
    added = figures.beyond(runner, filters_max)
    plots = {"matching": figures.draw_growth([*figures.growth(runner, filters_max), *added])} if added else {}
    return _plain("Beyond a million", "Growth, continued.", added, plots)


def filters_per_interface(runner: Runner, filters_max: int) -> Section:
    measured = figures.filters_per_interface(runner, filters_max)
    plots = {"figure10": figures.draw_filters_per_interface(measured)}
    return _plain("Filters per interface", "Figure 10 of paper 004: constraints fixed.", measured, plots)


def rounds(runner: Runner, filters_max: int) -> Section:
    measured = figures.rounds(runner, filters_max)
    plots = {"figure11": figures.draw_rounds(measured)}
    return _plain("Rounds", "Figure 11 of paper 004: one filter per interface.", measured, plots)


def _plain(title: str, about: str, measured: Sequence[Measured], plots: dict[str, str] | None = None) -> Section:
    rows = [asdict(each.setup) | {"results": [plain(result) for result in each.results]} for each in measured]
    return Section(title, about, figures.table_of(measured), rows, plots or {})


# --- libraries -------------------------------------------------------------------------------------------------------


def against_libraries(runner: Runner, filters_max: int) -> Section:
    rows: list[dict[str, Any]] = []
    notes = [str(libraries.LibraryMissing(name)) for name in libraries.NAMES if not libraries.is_installed(name)]
    failed: dict[str, str] = {}
    for count in (size for size in PEER_SIZES if size <= filters_max):
        rows += _our_rows(runner, count)
        for name in filter(libraries.is_installed, libraries.NAMES):
            if name in failed:
                runner.skip(f"library {name}, {count:,} filters", failed[name])
                continue
            told = _contest(runner, name, count)
            if "failed" in told:
                failed[name] = told["failed"]
                notes.append(told["failed"])
            elif told:
                rows.append(told)
    notes += dict.fromkeys(f"{row['matcher']}: {row['how']}" for row in rows if row["how"])
    head = ["filters x interfaces", "matcher", "share", "us/msg", "tamis us/msg", "times tamis", "build s", "matched"]
    about = "Each on the filters that it expresses (`share`), with `tamis` on the same ones; equal answers are checked."
    return Section("Libraries", about, markdown(head, [_library_cells(row) for row in rows]), rows, notes=notes)


def _our_rows(runner: Runner, count: int) -> list[dict[str, Any]]:
    measured = runner.run(setting(count, PEER_INTERFACES, contenders(ENGINES)))
    return [_library_row(count, result, label(result)) for result in (measured.results if measured else [])]


def _library_row(count: int, told: Result | Contest, matcher: str, how: str = "") -> dict[str, Any]:
    same = ("share", "build_s", "mean_us", "tamis_us", "matched_mean")
    return {"filters": count, "matcher": matcher, "how": how} | {key: getattr(told, key) for key in same}


def _contest(runner: Runner, name: str, count: int) -> dict[str, Any]:
    """A row, or why the library failed; nothing if there was no time."""

    def measure() -> dict[str, Any]:
        setup = setting(count, PEER_INTERFACES, ())
        try:
            told = contest(name, workload_of(setup), setup.deal())
        except LibraryFailed as error:
            return {"failed": str(error)}
        return _library_row(count, told, name, told.how)

    return runner.row(f"library {name}, {count:,} filters", measure) or {}


def _library_cells(row: dict[str, Any]) -> list[str]:
    times = row["mean_us"] / row["tamis_us"] if row["tamis_us"] else None
    numbers = (short(each) for each in (row["mean_us"], row["tamis_us"], times, row["build_s"], row["matched_mean"]))
    return [f"{row['filters']:,} x {PEER_INTERFACES}", row["matcher"], percent(row["share"]), *numbers]


# --- what takes runs of their own ------------------------------------------------------------------------------------


def instructions_per_message(runner: Runner, filters_max: int) -> Section:
    rows = []
    if not instructions.available():
        runner.skip("instructions per message", "valgrind is not installed")
    for setup in _settings(COUNTED if instructions.available() else (), filters_max):
        for each in setup.contenders:
            counted = runner.row(
                f"instructions of {each.label}, {size_label(setup)}",
                partial(instructions.per_message, setup, each, workload_of(setup), runner.say),
            )
            rows.append({"setting": size_label(setup), "engine": each.label, "instructions": counted})
    cells = [[row["setting"], row["engine"], short(row["instructions"])] for row in rows]
    about = f"Inside `tm_table_match`, counted by callgrind over {instructions.MESSAGES} messages from a cold memo."
    return Section("Instructions", about, markdown(["filters x interfaces", "engine", "per message"], cells), rows)


def grouping(runner: Runner, filters_max: int) -> Section:
    rows = []
    for alone in _settings([(count, ISSUERS) for count in GROUPED], filters_max):
        pair = [runner.run(setup) for setup in (alone, replace(alone, group_count=LINKS))]
        for without, behind in zip(*(each.results if each else [] for each in pair), strict=False):
            times = {"without_us": without.mean_us, "with_us": behind.mean_us, "links_matched": behind.matched_mean}
            times["gain"] = without.mean_us / behind.mean_us
            rows.append({"setting": size_label(alone), "engine": label(without), **times})
    cells = [
        [
            row["setting"],
            row["engine"],
            *(short(row[key]) for key in ("without_us", "with_us", "links_matched", "gain")),
        ]
        for row in rows
    ]
    head = ["filters x interfaces", "engine", "us/msg", f"us/msg behind {LINKS} links", "links matched", "times faster"]
    about = f"{ISSUERS:,} issuers, each an interface, asked one by one and as {LINKS} links: any issuer is enough."
    return Section("Grouping", about, markdown(head, cells), rows)


def updates(runner: Runner, filters_max: int) -> Section:
    rows = []
    for setup in _settings(UPDATED, filters_max):
        measured = runner.run(setup)
        for each, result in zip(setup.contenders, measured.results if measured else [], strict=False):
            left = runner.row(
                f"churn of {each.label}, {size_label(setup)}",
                partial(churn.speed_left, setup, each, workload_of(setup), runner.say),
            )
            rows.append({"setting": size_label(setup), "engine": each.label, "churn": left} | plain(result.updates))
    kinds = [f"{kind}_{part}us" for kind in ("add", "remove") for part in ("", "p50_", "p99_", "p999_", "max_")]
    cells = [[row["setting"], row["engine"], *(short(row[k]) for k in kinds), percent(row["churn"])] for row in rows]
    head = ["filters x interfaces", "engine", *(["add mean", "p50", "p99", "p99.9", "worst"])]
    head += ["remove mean", "p50", "p99", "p99.9", "worst", "speed left"]
    about = "Microseconds of single calls, and the matching speed that is left while 50,000 filters a second are added "
    return Section("Updates", about + "and as many removed.", markdown(head, cells), rows)


def adversary(runner: Runner, filters_max: int) -> Section:
    """The search is on `tamis`; every other engine answers the shape that it found."""
    chosen = contenders(["tamis", *(name for name in Table.engines() if name != "tamis")], [0])
    count = min(FILTERS_PER_CLIENT, filters_max)
    rows = [runner.row(f"adversary, {name}", partial(_adversary_row, name, chosen, count)) for name in FAMILIES]
    rows = [row for row in rows if row]
    about = f"The worst that {count:,} filters of one client were found to do to one message; steps are counted work."
    others = [each.label for each in chosen[1:]]
    return Section("Adversary", about, page_of(rows, others), rows, notes=[remark(row) for row in rows])


def _adversary_row(name: str, chosen: tuple[Contender, ...], count: int) -> dict[str, Any] | None:
    search = Search(chosen, count, ordinary_us(chosen[0], count), figures.SEED)
    return worst_row(name, search, ADVERSARY_TRIES, ADVERSARY_SECONDS, lambda _words: None)


def _settings(sizes: Iterable[tuple[int, int | None]], filters_max: int) -> list[Setup]:
    return [setting(n, interfaces, contenders(ENGINES)) for n, interfaces in sizes if n <= filters_max]


SECTIONS: tuple[Callable[[Runner, int], Section], ...] = (
    *(targets, even_spread, growth, updates, grouping, instructions_per_message, adversary, against_libraries),
    *(filters_per_interface, rounds, beyond),
)
