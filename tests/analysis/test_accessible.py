"""The page works for eyes, keyboards and screen readers, and asks nobody for anything."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.page.report import page
from tests.analysis.page_outline import PageElement, outline
from tests.analysis.sample_tables import ALL, LOGS

WRITTEN = page(ALL)


@pytest.fixture(scope="module", params=[ALL, LOGS], ids=["all", "logs alone"])
def root(request: pytest.FixtureRequest) -> PageElement:
    return outline(page(request.param))


def test_it_asks_for_nothing() -> None:
    root = outline(WRITTEN)
    assert not list(root.every("script", "link", "img", "iframe", "object", "embed", "use", "image"))
    for element in root.every():
        assert not element.attributes.keys() & {"src", "srcset", "data", "action", "style", "onclick", "onload"}, (
            element
        )
        assert element.get("href").startswith("#") or "href" not in element.attributes, element
    assert not re.search(r"https?:|url\(|@import", WRITTEN)
    (policy,) = (each["content"] for each in root.every("meta") if each.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_ids_are_one_and_what_is_pointed_at_is_there(root: PageElement) -> None:
    ids = [element["id"] for element in root.every() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in root.every():
        targets = [element["href"].removeprefix("#")] if "href" in element.attributes else []
        assert {*targets, *element.get("aria-labelledby").split()} <= set(ids), element


def test_landmarks_and_headings_are_in_order(root: PageElement) -> None:
    (html,) = root.every("html")
    assert html["lang"] == "en"
    assert [element.tag for element in root.every("header", "nav", "main", "h1")] == ["header", "h1", "nav", "main"]
    assert all(each.get("aria-label") for each in root.every("nav"))
    levels = [int(element.tag[1]) for element in root.every("h1", "h2", "h3", "h4", "h5", "h6")]
    assert all(later <= level + 1 for level, later in pairwise(levels))
    (main,) = root.every("main")
    for section in main.every("section"):
        assert next(section.every("h2"))["id"] == section["aria-labelledby"]
    first = next(root.every("a"))
    assert (first["class"], first["href"]) == ("skip", f"#{main['id']}")


def test_each_table_has_a_caption_and_headings_of_rows_and_columns(root: PageElement) -> None:
    for table in root.every("table"):
        assert next(table.every("caption")).text
        assert {heading["scope"] for heading in table.every("th")} == {"col", "row"}
        (head,), rows = table.every("thead"), [row for body in table.every("tbody") for row in body.every("tr")]
        columns = [heading["scope"] for heading in head.every("th")]
        assert all(scope == "col" for scope in columns)
        for row in rows:
            assert [cell.tag for cell in row.children] == ["th", *["td"] * (len(columns) - 1)]


def test_each_drawing_says_what_it_shows(root: PageElement) -> None:
    for drawing in root.every("svg"):
        if drawing.get("aria-hidden") == "true":
            continue
        assert drawing["role"] == "img"
        title, words = drawing.children[:2]
        assert (title.tag, words.tag) == ("title", "desc")
        assert drawing["aria-labelledby"].split() == [title["id"], words["id"]]
        assert title.text
        assert words.text


def test_what_scrolls_can_be_scrolled_by_keys(root: PageElement) -> None:
    frames = [element for element in root.every("div") if element.get("class") == "frame"]
    assert len(frames) >= len(list(root.every("table")))
    for frame in frames:
        assert frame["tabindex"] == "0"
        assert frame["role"] in {"region", "group"}
        assert frame["aria-label"]


def test_phones_are_told_the_width_and_print_has_rules() -> None:
    root = outline(WRITTEN)
    assert "width=device-width" in next(
        each["content"] for each in root.every("meta") if each.get("name") == "viewport"
    )
    sheet = next(root.every("style")).text
    for wanted in ("prefers-color-scheme: dark", "@media print", "max-width: 760px", ":focus-visible"):
        assert wanted in sheet
    assert sheet.count("{") == sheet.count("}")
