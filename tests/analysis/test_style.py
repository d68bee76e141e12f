"""Colours can be told from their ground, by light and by dark."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.page import style

LEAST_TEXT, LEAST_DRAWN = 4.5, 3.0
PALETTES = {"light": style.LIGHT, "dark": style.DARK}


def luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_as_it_is_defined() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", PALETTES)
def test_words_and_drawings_stand_out(name: str) -> None:
    palette = PALETTES[name]
    for text in style.TEXT:
        for ground in ("ground", "raised"):
            assert contrast(palette[text], palette[ground]) >= LEAST_TEXT, (text, ground)
    for drawn in style.DRAWN:
        assert contrast(palette[drawn], palette["ground"]) >= LEAST_DRAWN, drawn


def test_both_palettes_have_every_colour_that_the_sheet_uses() -> None:
    used = set(re.findall(r"var\(--(\w+)\)", style.SHEET))
    assert used <= style.LIGHT.keys()
    assert style.LIGHT.keys() == style.DARK.keys()
    rules = re.sub(r"--\w+: #\w+", "", style.SHEET)
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b", rules), "a colour without a name"
