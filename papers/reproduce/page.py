"""Pages: for each figure what the paper shows beside what came of it here, and a verdict with its reason.

Law: a page is one file that asks for nothing from anywhere, and says so to the browser (`Content-Security-Policy`).
What its drawings say, its tables say, too. Colours are those of reports (`analysis/page/style.py`), light and dark; a
printed page is the light one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from tamis.analysis.page.style import SHEET
from tamis.papers.reproduce.drawing import SIGNS, inline
from tamis.papers.reproduce.figure import Ruling

Told = Mapping[str, Any]
"""A figure, as its JSON file has it."""

PAPERS: Final = {
    "000": "Fast forwarding for content-based networking (Carzaniga, Deng, Wolf, 2001)",
    "001": "Faster event forwarding by lookup reuse (Shen, Tirthapura, 2006)",
    "002": "Link matching, the protocol of Gryphon (Banavar and others, 1999)",
    "003": "DAS: distributed filtering algorithms compared",
    "004": "Forwarding in a content-based network (Carzaniga, Wolf, 2003)",
}
_STYLES: Final = {ruling: style for ruling, (_, style) in SIGNS.items()}
_ROWS_SHOWN: Final = 400
_SUGGESTED: Final = " (as the paper's figures suggest)"


def page(figures: Sequence[Told], out: Path, paper: str | None) -> str:
    """The page of one paper, or of all."""
    title = "Five papers, reproduced" if paper is None else f"Paper {paper}, reproduced"
    papers = list(dict.fromkeys(figure["paper"] for figure in figures))
    places = [(f"p{each}", f"Paper {each}") for each in papers] if paper is None else _places(figures)
    links = "".join(
        f'<li><a href="#{place}">{escape(name)}</a></li>' for place, name in [("short", "In short"), *places]
    )
    body = [
        _head(figures, title, paper),
        f'<nav aria-label="On this page"><ul>{links}</ul></nav><main id="main">',
        _short(figures),
        *(part for each in papers for part in _paper(each, [f for f in figures if f["paper"] == each], out)),
        "</main>",
    ]
    return _PAGE.format(title=title, sheet=SHEET + _SHEET, body="\n".join(body))


def _places(figures: Sequence[Told]) -> list[tuple[str, str]]:
    return [(_place(figure), _short_name(figure)) for figure in figures]


def _place(figure: Told) -> str:
    return f"p{figure['paper']}-{figure['id']}"


def _short_name(figure: Told) -> str:
    return f"Figure {figure['id']}" if figure["id"][0].isdigit() else str(figure["heading"])


def _head(figures: Sequence[Told], title: str, paper: str | None) -> str:
    words = (
        "What five papers on content-based networks claim, measured with the engines of Tamis: the paper's "
        "figure in "
        "words beside ours, and a verdict with its numbers. A claim that does not hold is shown like any other."
        if paper is None
        else PAPERS[paper]
    )
    scales = ", ".join(sorted({figure["scale"] for figure in figures}))
    machine = ", ".join(sorted({figure["processor"] for figure in figures}))
    minutes = sum(figure["seconds"] for figure in figures) / 60
    facts = {"scale": scales, "machine": machine, "figures": f"{len(figures)}, in {minutes:.0f} min"}
    made = f"tamis reproduce {paper or 'all'} --scale {scales}"
    list_ = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    back = "" if paper is None else '<p><a href="index.html">All papers</a></p>'
    return (
        f"<header>{back}<h1>{escape(title)}</h1><p>{escape(words)}</p>"
        f"<dl>{list_}<dt>made by</dt><dd><code>{escape(made)}</code></dd></dl></header>"
    )


def _short(figures: Sequence[Told]) -> str:
    counts = Counter(claim["verdict"] for figure in figures for claim in figure["claims"])
    tiles = "".join(
        f'<li class="{_STYLES[ruling]}"><strong>{counts[ruling]}</strong> {_with_verdict(counts[ruling], ruling)}</li>'
        for ruling in Ruling
    )
    rows = "".join(
        f'<tr><td><a href="#{_place(figure)}">{figure["paper"]}, {escape(_short_name(figure).lower())}</a></td>'
        f"<td>{escape(claim['claim'])}</td><td>{_badge(claim['verdict'])}{_holds_for(claim)}</td></tr>"
        for figure in figures
        for claim in figure["claims"]
    )
    return (
        '<section id="short" aria-labelledby="short-title"><h2 id="short-title">In short</h2>'
        f'<ul class="tiles" aria-label="claims by verdict">{tiles}</ul>'
        '<div class="frame"><table><caption>Every claim</caption><thead><tr><th scope="col">where</th>'
        '<th scope="col">claim</th><th scope="col">verdict</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _with_verdict(count: int, ruling: Ruling) -> str:
    """Return "claims hold" and its like, for `count` claims with this verdict."""
    is_one = count == 1
    verbs = {Ruling.HOLDS: "holds" if is_one else "hold", Ruling.DIFFERS: "differs" if is_one else "differ"}
    return f"claim{'' if is_one else 's'} {verbs.get(ruling, 'not judged')}"


def _badge(ruling: str) -> str:
    return f'<span class="badge {_STYLES[Ruling(ruling)]}">{SIGNS[Ruling(ruling)][0]} {ruling}</span>'


def _paper(paper: str, figures: Sequence[Told], out: Path) -> Iterator[str]:
    yield f'<section id="p{paper}" aria-labelledby="p{paper}-title"><h2 id="p{paper}-title">Paper {paper}</h2>'
    yield f'<p class="soft">{escape(PAPERS[paper])}</p>'
    for figure in figures:
        yield from _figure(figure, out / paper)
    yield "</section>"


def _figure(figure: Told, folder: Path) -> Iterator[str]:
    yield f'<article id="{_place(figure)}"><h3>{escape(figure["heading"])}</h3>'
    yield f'<p><span class="soft">The paper shows:</span> {escape(figure["shows"])}</p>'
    yield '<div class="plots">'
    for plot in figure["plots"]:
        svg = inline((folder / plot["file"]).read_text())
        yield f'<figure><div class="frame">{svg}</div></figure>'
    yield "</div>"
    yield from _claims(figure)
    if figure["chosen"]:
        yield f'<p class="soft">Chosen where the paper is silent: {escape(figure["chosen"])}</p>'
    yield from _rows(figure)
    exact = "exact: every machine gives these rows" if figure["is_exact"] else "timed: another machine gives other rows"
    command = f"tamis reproduce {figure['paper']} --figure {figure['id']} --scale {figure['scale']}"
    told = f"seed {figure['seed']}, {figure['seconds']:.0f} s; {exact}"
    yield f'<p class="soft made"><code>{escape(command)}</code> {told}</p></article>'


def _claims(figure: Told) -> Iterator[str]:
    head = "".join(f'<th scope="col">{name}</th>' for name in ("claim", "the paper", "ours", "verdict", "readings"))
    yield f'<div class="frame"><table class="claims"><thead><tr>{head}</tr></thead><tbody>'
    for claim in figure["claims"]:
        why = f'<br><span class="soft">{escape(claim["why"])}</span>' if claim["why"] else ""
        yield (
            f'<tr id="{escape(claim["name"])}"><td>{escape(claim["claim"])}</td><td>{escape(claim["paper"])}</td>'
            f"<td>{escape(claim['ours'])}</td><td>{_badge(claim['verdict'])}{why}</td><td>{_readings(claim)}</td></tr>"
        )
    yield "</tbody></table></div>"


def _readings(claim: Mapping[str, Any]) -> str:
    """Every reading of the claim, with its verdict and numbers; the one that the paper's figures suggest says so."""
    items = (
        f"<li>{escape(each['name'])}{_SUGGESTED if each['suggested'] else ''}: {_badge(each['verdict'])}"
        f'<br><span class="soft">{escape(each["ours"])}</span></li>'
        for each in claim.get("readings", ())
    )
    return f'<ul class="readings">{"".join(items)}</ul>' if claim.get("readings") else ""


def _holds_for(claim: Mapping[str, Any]) -> str:
    """In how many of its readings a claim holds."""
    verdicts = [each["verdict"] for each in claim.get("readings", ())]
    held = verdicts.count(Ruling.HOLDS)
    return f'<br><span class="soft">in {held} of {len(verdicts)} readings</span>' if verdicts else ""


def _rows(figure: Told) -> Iterator[str]:
    rows = figure["rows"]
    if not rows:
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    yield f'<details><summary>{len(rows)} rows</summary><div class="frame"><table><thead><tr>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in columns) + "</tr></thead><tbody>"
    for row in rows[:_ROWS_SHOWN]:
        yield "<tr>" + "".join(_value(row.get(name)) for name in columns) + "</tr>"
    yield "</tbody></table></div></details>"


def _value(value: object) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{escape(str(value))}</td>"
    shown = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return f'<td class="number">{shown}</td>'


_SHEET: Final = """
article { margin: 2rem 0 2.6rem; scroll-margin-top: 60px }
article > h3 { font-size: 1.12rem }
.badge { white-space: nowrap; font-weight: 600 }
.badge.good { color: var(--good) } .badge.bad { color: var(--bad) } .badge.doubt { color: var(--doubt) }
.plots figure { max-width: 660px }
.claims { width: 100% }
.claims td { min-width: 11ch } .claims td:nth-child(1) { min-width: 22ch } .claims td:nth-child(4) { min-width: 24ch }
.readings { margin: 0; padding-left: 1.1em; min-width: 24ch }
.made { font-size: .85rem }
tr:target { background: var(--raised) }
@media print { details { display: none } article { break-inside: avoid-page } .claims td { min-width: 0 } }
"""
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title><style>
{sheet}</style></head><body><a class="skip" href="#main">To the content</a>
{body}
</body></html>
"""
