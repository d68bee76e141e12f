"""A page of HTML as a tree, read strictly: what is opened is closed, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

VOID: Final = frozenset({"meta", "br", "link", "img", "input", "hr"})


@dataclass(slots=True)
class PageElement:
    tag: str
    attributes: dict[str, str]
    children: list[PageElement] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def every(self, *tags: str) -> Iterator[PageElement]:
        """Yield the elements below with one of `tags`, or all, in the order of the page."""
        for child in self.children:
            if not tags or child.tag in tags:
                yield child
            yield from child.every(*tags)

    @property
    def text(self) -> str:
        return "".join([*self.texts, *(child.text for child in self.children)])


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [PageElement("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        element = PageElement(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(PageElement(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].texts.append(data)


def outline(text: str) -> PageElement:
    builder = _Builder()
    builder.feed(text)
    builder.close()
    (root,) = builder.open
    return root
