"""Reads a report as a strict reader would: nesting, links, and tables by their captions."""

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "hr", "input", "base"}
SVG = {"svg", "line", "circle", "rect", "text", "polygon", "polyline", "title", "g"}
NOT_IN_PARAGRAPH = {"p", "div", "table", "section", "ul", "ol", "figure", "h1", "h2", "h3", "h4", "details"}


@dataclass
class Cell:
    """`numbers` are the full values behind the text."""

    text: str = ""
    numbers: list[float] = field(default_factory=list)


@dataclass
class Table:
    """The first `head` rows are the header."""

    rows: list[list[Cell]] = field(default_factory=list)
    head: int = 0

    def row(self, name: str) -> list[Cell]:
        (found,) = [row for row in self.rows[self.head :] if row[0].text == name]
        return found


class Page(HTMLParser):
    """Raises `AssertionError` for elements that are not closed in order, or stand where they must not."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.elements: Counter[str] = Counter()
        self.headings: list[tuple[int, str]] = []
        self.tables: dict[str, Table] = {}
        self.words: list[str] = []
        self._table = Table()
        self.feed(html)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        assert len(given) == len(attrs), f"an attribute twice in {tag}"
        if "p" in self.open:
            assert tag not in NOT_IN_PARAGRAPH, f"{tag} inside p"
        self.elements[tag] += 1
        self.attributes += [(tag, name, value) for name, value in given.items()]
        self.ids.update([given["id"]] if "id" in given else [])
        self.links += [given["href"]] if "href" in given else []
        if tag == "table":
            self._table = Table()
        if tag == "tbody":
            self._table.head = len(self._table.rows)
        if tag == "tr":
            self._table.rows.append([])
        if tag in ("td", "th"):
            self._table.rows[-1].append(Cell())
        if tag == "data":
            self._table.rows[-1][-1].numbers.append(float(given["value"]))
        if tag[0] == "h" and tag[1:].isdecimal():
            self.headings.append((int(tag[1:]), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SVG, f"{tag} closes itself"
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"{tag} closes nothing"
        assert self.open.pop() == tag, f"{tag} closes out of order"

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.words.append(data)
        inside = self.open[-1] if self.open else ""
        if inside == "caption":
            self.tables[data.strip()] = self._table
        if inside[:1] == "h" and inside[1:].isdecimal():
            level, before = self.headings.pop()
            self.headings.append((level, before + data))
        if "svg" not in self.open and {"td", "th"} & set(self.open):
            cell = self._table.rows[-1][-1]
            cell.text = " ".join(f"{cell.text} {data}".split())
