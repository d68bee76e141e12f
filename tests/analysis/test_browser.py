"""The report in a real browser: nothing goes wrong in it, and every plot is drawn."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("playwright", reason="playwright is not installed: pip install playwright")

from playwright.sync_api import Page, sync_playwright

from tamis.analysis.job import REPORT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed: apt-get install chromium"),
]


def test_every_plot_is_drawn_and_nothing_is_said_on_the_console(answered: Path, tmp_path: Path) -> None:
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((answered / REPORT).as_uri())
        page.screenshot(path=tmp_path / "report.png", full_page=True)
        print(f"\n{tmp_path / 'report.png'}")
        plots_are_drawn(page)
        nothing_is_wider_than_the_page(page)
        browser.close()
    assert said == []


def plots_are_drawn(page: Page) -> None:
    plots = page.locator("svg[role=img]").all()
    assert len(plots) >= 4
    for plot in plots:
        box = plot.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 100
        marks = [mark.bounding_box() for mark in plot.locator("circle").all()]
        assert marks or plot.locator("polyline").count()
        for mark in marks:
            assert mark is not None
            assert mark["width"] > 0
            assert box["x"] <= mark["x"] <= box["x"] + box["width"]
            assert box["y"] <= mark["y"] <= box["y"] + box["height"]


def nothing_is_wider_than_the_page(page: Page) -> None:
    """Wide tables scroll in a frame of their own."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
