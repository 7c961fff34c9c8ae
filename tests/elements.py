"""The elements of an HTML page, as a test sees them."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Elements(HTMLParser):
    """Names, ids, links and text of a page; ``open`` are elements that were never closed, in the wrong order none can be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        """Within the page."""
        self.fetched: list[str] = []
        """Addresses of anything else."""
        self.open: list[str] = []
        self.texts: list[str] = []
        """But for style and script."""
        self.feed(text)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        for name in ("href", "src"):
            target = given.get(name) or ""
            (self.links if target.startswith("#") else self.fetched).append(target)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & {*self.open[-1:]}:
            self.texts.append(data)
