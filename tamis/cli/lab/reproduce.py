"""`tamis reproduce`: measure and judge figures and tables of the papers that Tamis is based on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tamis.papers.reproduce.figure import PaperFigure, Reproduced

_NOT_HERE = (
    "papers are reproduced in a checkout; an installed package has no benchmarks. Clone the repository, "
    "and there: pip install -e '.[reproduce]'"
)
_PAPERS = ("000", "001", "002", "003", "004", "all")

_EXAMPLE = """\b
Examples:
  tamis reproduce all
  tamis reproduce 004 --figure 11,example --out figures
  tamis reproduce 002 --list
"""


@click.command("reproduce", epilog=_EXAMPLE)
@click.argument("paper", type=click.Choice(_PAPERS))
@click.option("--figure", "figures", multiple=True, help="Measure only these figures, by number or name: 9,12.")
@click.option(
    "--scale",
    type=click.Choice(["small", "paper"]),
    default="small",
    show_default=True,
    help="paper: use the sizes of the papers, which takes two to three hours.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduced"),
    show_default=True,
    help="Write results to this folder; an interrupted run is resumed from it.",
)
@click.option("--seed", type=int, default=2003, show_default=True, help="Equal seeds give equal workloads.")
@click.option("--exact", is_flag=True, help="Only figures without times, which are equal on every machine.")
@click.option("--live", is_flag=True, help="Also measure single points over TCP, with routers in separate processes.")
@click.option("--list", "only_list", is_flag=True, help="Print figures and claims; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each claim.")
def command(
    paper: str,
    figures: tuple[str, ...],
    scale: str,
    out: Path,
    seed: int,
    exact: bool,
    live: bool,
    only_list: bool,
    as_json: bool,
) -> int:
    """Measure the claims of a paper, and judge whether they hold.

    Writes rows (CSV, JSON), plots (SVG, PNG) and verdicts.json into --out, and index.html, the report. The exit code
    is 0 when all was measured, whatever the verdicts are, and 1 if two engines, or an engine and its model,
    disagree.
    """
    try:
        from tamis.papers.reproduce import drawing, running
        from tamis.papers.reproduce.figure import Disagreement, Scale
        from tamis.papers.reproduce.papers import figures_of
    except ModuleNotFoundError as error:
        if error.name not in ("tamis.papers", "tamis.papers.reproduce"):
            raise
        raise click.ClickException(_NOT_HERE) from None
    from tamis.bench.matching.contenders import EnginesDisagree

    try:
        asked = figures_of(paper, [each for text in figures for each in text.split(",")])
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--figure") from None
    is_asked = live or only_list or bool(figures)
    chosen = [each for each in asked if (each.is_exact or not exact) and (is_asked or not each.needs_daemons)]
    if only_list:
        _list(chosen, as_json=as_json)
        return 0
    try:
        drawing.check_installed()
        done = running.run(chosen, Scale(scale), seed, out)
    except (Disagreement, EnginesDisagree, drawing.NoMatplotlib) as error:
        raise click.ClickException(str(error)) from None
    _tell(done, out, as_json=as_json)
    return 0


def _list(figures: list[PaperFigure], *, as_json: bool) -> None:
    for figure in figures:
        if as_json:
            about = {"paper": figure.paper, "figure": figure.id, "title": figure.title, "exact": figure.is_exact}
            seconds = {str(scale): seconds for scale, seconds in figure.seconds.items()}
            claims = [{"id": each.name, "claim": each.claim, "paper_says": each.paper} for each in figure.criteria]
            click.echo(json.dumps(about | {"seconds": seconds, "claims": claims}))
            continue
        click.echo(f"{figure.paper} {figure.id:12} {figure.title}{' (exact)' if figure.is_exact else ''}")
        for each in figure.criteria:
            click.echo(f"    {each.name:24} {each.claim}")


def _tell(done: list[Reproduced], out: Path, *, as_json: bool) -> None:
    for each in done:
        if not as_json:
            click.echo(f"{each.figure.paper} {each.figure.id}: {each.figure.title}")
        for criterion in each.figure.criteria:
            judged = each.judgements[criterion.name]
            if as_json:
                what = {"paper": each.figure.paper, "figure": each.figure.id, "id": criterion.name}
                what |= {"claim": criterion.claim, "paper_says": criterion.paper}
                click.echo(json.dumps(what | judged.told()))
                continue
            click.echo(f"  {judged.ruling:15} {criterion.claim}")
            click.echo(f"  {'':15} ours: {judged.ours}")
            if judged.why:
                click.echo(f"  {'':15} because: {judged.why}")
            for reading in judged.readings:
                star = "*" if reading.is_suggested else ""
                click.echo(f"  {'':15} read as {reading.name}{star}: {reading.judged.ruling}")
    if not as_json:
        click.echo(f"the report: {out / 'index.html'}")
