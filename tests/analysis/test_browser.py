"""The report in a real browser: nothing goes wrong in it, every plot is drawn, and it can be read on a phone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("playwright", reason="playwright is not installed: pip install playwright")

from playwright.sync_api import Browser, Page, sync_playwright

from tamis.analysis.job import REPORT
from tamis.analysis.page.report import page as written
from tests.analysis.sample_tables import ALL, DELIVERY, ODD

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed: apt-get install chromium")

LONG = "a_name_without_a_place_to_break_it_" * 6
WIDE = ALL | {
    "delivery/faults": [
        DELIVERY["delivery/faults"][0] | {"client": LONG, "attributes": f'{{"{LONG}": "{LONG}"}}', "number": number}
        for number in range(3)
    ],
    "content/values": [{"name": LONG, "value": LONG, "messages": 7}],
    "content/covered": [{"form": f'[["{LONG}", "<", 5]]', "covered_by_form": f'[["{LONG}", "<", 9]]'}],
}
"""Tables with names that are wider than a phone."""

TOO_WIDE = """() => [...document.body.querySelectorAll("*")]
    .filter(each => each.checkVisibility() && !each.closest("svg") && !each.matches(".skip"))
    .filter(each => Math.max(each.getBoundingClientRect().right, each.scrollWidth) > window.innerWidth + 0.5)
    .map(each => `${each.tagName} ${each.className} ${each.textContent.slice(0, 60)}`)"""


@pytest.fixture(name="browser", scope="module")
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


def opened(browser: Browser, file: Path, width: int) -> Page:
    """Open a page with all that is folded up unfolded."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    return page


@pytest.mark.long
def test_every_plot_is_drawn_and_nothing_is_said_on_the_console(
    browser: Browser, answered: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((answered / REPORT).as_uri())
    page.screenshot(path=tmp_path / "report.png", full_page=True)
    print(f"\n{tmp_path / 'report.png'}")
    plots_are_drawn(page)
    nothing_is_wider_than_the_page(page)
    assert said == []
    assert opened(browser, answered / REPORT, 400).evaluate(TOO_WIDE) == []


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


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 400, 600])
def test_on_a_phone_no_element_is_wider_than_the_page(browser: Browser, tmp_path: Path, width: int) -> None:
    file = tmp_path / "page.html"
    file.write_text(written(WIDE, LONG))
    assert opened(browser, file, width).evaluate(TOO_WIDE) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [601, 900, 1600])
def test_wide_tables_scroll_in_their_frame_on_a_wider_page(browser: Browser, tmp_path: Path, width: int) -> None:
    file = tmp_path / "page.html"
    file.write_text(written(WIDE, LONG))
    page = opened(browser, file, width)
    nothing_is_wider_than_the_page(page)
    assert page.locator("table[data-table='delivery/faults'] thead").is_visible()


@pytest.mark.slow
def test_on_a_phone_each_value_stands_beside_its_heading(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(written(ALL))
    page = opened(browser, file, 400)
    table = page.locator("table[data-table='traffic/drops']")
    assert not table.locator("thead").is_visible()
    cells = table.locator("tbody tr").first.locator("th, td")
    labels = cells.evaluate_all("all => all.map(each => getComputedStyle(each, '::before').content)")
    assert labels == ['"router"', '"neighbour"', '"what"', '"reason"', '"messages"']
    assert cells.all_inner_texts() == ["a", ODD, "dropped", "queue full", "3"]
    boxes = [cell.bounding_box() for cell in cells.all()]
    tops = [box["y"] for box in boxes if box is not None]
    assert tops == sorted(set(tops)), "one below the other"
