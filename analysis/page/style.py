"""The colours and the style sheet of a report.

Law: every colour of the page is a name here, with a value for light and one for dark; text has a contrast of 4.5 to its
ground and what is drawn one of 3. A printed page is the light one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Palette = Mapping[str, str]
LIGHT: Final[Palette] = {
    "ground": "#ffffff",
    "raised": "#f4f6f8",
    "ink": "#1c2430",
    "soft": "#55606e",
    "rule": "#d5dbe1",
    "accent": "#0b5cad",
    "good": "#1a7340",
    "bad": "#b3261e",
    "doubt": "#8a5a00",
    "drawn": "#7d8996",
    "c0": "#0b5cad",
    "c1": "#c2410c",
    "c2": "#1a7340",
    "c3": "#7e3ba8",
    "c4": "#9a6a00",
    "c5": "#495464",
    "c6": "#0b7a75",
    "c7": "#c02672",
}
DARK: Final[Palette] = {
    "ground": "#12171d",
    "raised": "#1c232b",
    "ink": "#e6eaee",
    "soft": "#a3adb8",
    "rule": "#36404a",
    "accent": "#74b3f2",
    "good": "#63c48b",
    "bad": "#ff8a80",
    "doubt": "#e5b252",
    "drawn": "#7e8a97",
    "c0": "#74b3f2",
    "c1": "#ff9a66",
    "c2": "#63c48b",
    "c3": "#c99bea",
    "c4": "#e5b252",
    "c5": "#b4bec9",
    "c6": "#4fc7c0",
    "c7": "#f489b8",
}
SERIES: Final = 8
"""Colours of lines, c0 and on."""
TEXT: Final = ("ink", "soft", "accent", "good", "bad", "doubt")
"""Colours of words, on `ground` and on `raised`."""
DRAWN: Final = ("drawn", *(f"c{number}" for number in range(SERIES)))


def _variables(palette: Palette) -> str:
    return "; ".join(f"--{name}: {value}" for name, value in palette.items())


_RULES: Final = """
* { box-sizing: border-box }
html { color-scheme: light dark; scroll-behavior: smooth }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--ground); margin: 0;
  overflow-wrap: anywhere }
header, nav, main { max-width: 1180px; margin: 0 auto; padding: 0 20px }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1.4rem 0 .4rem }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .4rem; padding-top: .6rem; border-top: 2px solid var(--rule) }
h3 { font-size: 1.02rem; margin: 0 }
p { max-width: 75ch; margin: .3rem 0 .9rem }
a { color: var(--accent) }
code { font: .92em/1.4 ui-monospace, monospace; overflow-wrap: anywhere }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.skip { position: absolute; left: -100vw }
.skip:focus { left: 12px; top: 12px; padding: 8px 14px; background: var(--ground); z-index: 1 }
.soft { color: var(--soft) }
.head { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.1fr); gap: 12px 32px; align-items: center }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 16px; margin: .6rem 0 }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
nav { position: sticky; top: 0; background: var(--ground); border-bottom: 1px solid var(--rule); z-index: 1 }
nav ul { display: flex; gap: 2px 20px; list-style: none; margin: 0; padding: 0; overflow-x: auto }
nav a { display: block; padding: 10px 0; white-space: nowrap; text-decoration: none }
nav a:hover { text-decoration: underline }
section { scroll-margin-top: 52px }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px; padding: 0 }
.tiles li { list-style: none; background: var(--raised); border-radius: 8px; padding: 10px 14px }
.tiles strong { display: block; font-size: 1.5rem; line-height: 1.25; font-variant-numeric: tabular-nums }
.good strong { color: var(--good) }
.bad strong { color: var(--bad) }
.doubt strong { color: var(--doubt) }
.short { padding-left: 1.2em }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr)); gap: 12px 28px }
figure { margin: .6rem 0; min-width: 0; max-width: 570px }
figcaption { font-weight: 600 }
.frame { overflow-x: auto; position: relative }
figure svg { display: block; width: 100%; height: auto }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif }
svg .soft { fill: var(--soft) }
svg .grid { stroke: var(--rule); fill: none }
svg .mark { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3 }
svg .sign { fill: var(--bad) }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round }
svg .link { stroke: var(--drawn); fill: none; stroke-linecap: round }
svg .was-down { stroke: var(--bad); stroke-width: 3; stroke-dasharray: 10 8; fill: none }
svg .ground { fill: var(--ground) }
svg .router { fill: var(--raised); stroke: var(--accent); stroke-width: 2.5 }
svg .broke { stroke: var(--bad) }
svg .halo { stroke: var(--ground); stroke-width: 4; paint-order: stroke; stroke-linejoin: round }
.legend { display: flex; flex-wrap: wrap; gap: 0 18px; list-style: none; margin: 2px 0 0; padding: 0 }
.legend li { font-size: .88rem }
.legend svg { display: inline-block; width: 26px; min-width: 0; height: 10px; margin-right: 6px }
.answer { margin: 1.3rem 0 }
table { border-collapse: collapse; font-size: .875rem; min-width: min(100%, 360px) }
caption { text-align: left; font-weight: 600; font-size: 1.02rem; padding: 2px 0 4px }
td, th { border-bottom: 1px solid var(--rule); padding: 4px 14px 4px 0; text-align: left; vertical-align: top }
tbody th { font-weight: 500 }
thead th { color: var(--soft); font-weight: 600; border-bottom-width: 2px }
tbody tr:hover { background: var(--raised) }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.moment { white-space: nowrap; font-variant-numeric: tabular-nums }
.wide { min-width: 24ch }
td, th { overflow-wrap: break-word }
.many .moment, .many thead .number { white-space: normal }
.many td, .many th { padding-right: 9px }
.many .wide { min-width: 12ch }
summary { cursor: pointer; padding: 4px 0 }
summary h3 { display: inline }
"""

_PHONE: Final = """
body { font-size: 15px }
.head { grid-template-columns: minmax(0, 1fr) }
header, nav, main { padding: 0 14px }
h1 { font-size: 1.4rem }
dl { gap: 2px 12px }
nav { position: static }
nav ul { flex-wrap: wrap }
nav a { padding: 4px 0 }
"""

_STACKED: Final = """
.stacks, .stacks caption, .stacks tbody, .stacks tr { display: block }
.stacks { min-width: 0 }
.stacks thead { display: none }
.stacks tbody tr { border-bottom: 2px solid var(--rule); padding: 8px 0 }
.stacks tbody th, .stacks tbody td {
  display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 0 12px;
  min-width: 0; border: 0; padding: 1px 0; text-align: left; white-space: normal; overflow-wrap: anywhere
}
.stacks tbody th { font-weight: 600 }
.stacks tbody td:empty { display: none }
.stacks [data-label]::before { content: attr(data-label); color: var(--soft); font-weight: 400 }
.few td, .few th { overflow-wrap: anywhere }
.few .wide, .many .wide { min-width: 0 }
.few .moment, .few .number { white-space: normal }
"""
"""A row of a table of many columns becomes lines of its own, a heading and a value each."""

_PRINT: Final = """
body { font-size: 10pt }
nav, .skip { display: none }
h2, h3, caption, figcaption { break-after: avoid }
h2 { margin-top: 1.4rem }
figure, tr, .tiles { break-inside: avoid }
.frame { overflow: visible }
.plots { grid-template-columns: 1fr 1fr }
table { font-size: 7.5pt }
td, th { padding-right: 8px }
.moment, .number { white-space: normal }
.wide { min-width: 0 }
a { text-decoration: none }
"""

SHEET: Final = (
    f":root {{ {_variables(LIGHT)} }}\n"
    f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}\n"
    f"{_RULES.strip()}\n"
    f"@media screen and (max-width: 760px) {{ {_PHONE} }}\n"
    f"@media screen and (max-width: 600px) {{ {_STACKED} }}\n"
    f"@media print {{ {_PRINT} }}\n"
    + "".join(
        f".s{number} {{ stroke: var(--c{number}) }} .f{number} {{ fill: var(--c{number}) }}\n"
        for number in range(SERIES)
    )
)
