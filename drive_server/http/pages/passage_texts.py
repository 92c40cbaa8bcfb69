"""What the page says on which a file opens at a passage, in English and Chinese."""

from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import quote

from starlette.responses import HTMLResponse

from drive_server.http.pages.layout import Language, page
from drive_server.knowledge.text.place import Place, parse_place
from drive_server.models import TextRange
from drive_server.services.text.addresses import PAGE, Passage
from drive_server.services.tree.names import display_name

PDF: Final = "application/pdf"

WORDS: Final[dict[str, dict[Language, str]]] = {
    "version": {"en": "Version {version}", "zh": "版本 {version}"},
    "older": {
        "en": "This is version {version}; the file has changed since, the newest is version {newest}.",
        "zh": "这是版本 {version}；此后文件有过改动，最新的是版本 {newest}。",
    },
    "page": {"en": "page {at}", "zh": "第 {at} 页"},
    "slide": {"en": "slide {at}", "zh": "第 {at} 张幻灯片"},
    "part": {"en": "part {at}", "zh": "第 {at} 部分"},
    "line": {"en": "line {at}", "zh": "第 {at} 行"},
    "sheet": {"en": "sheet {name}, {at}", "zh": "工作表 {name}，{at}"},
    "pdf": {"en": "Open the PDF there", "zh": "打开 PDF 的这一页"},
    "download": {"en": "Download", "zh": "下载"},
    "newest": {"en": "The newest version", "zh": "最新版本"},
    "extracted": {"en": "The text of the file, without its layout:", "zh": "文件的文字内容（不含排版）："},
    "gone_title": {"en": "Not found", "zh": "未找到"},
    "gone": {
        "en": "There is no such file or version, or it is not shared with you.",
        "zh": "没有这个文件或版本，或者它没有与您共享。",
    },
    "forbidden_title": {"en": "Only for editors", "zh": "仅限编辑者"},
    "forbidden": {
        "en": "The file has changed since, and its earlier versions are for those who may edit it.",
        "zh": "此后文件有过改动，只有可以编辑它的人才能查看以前的版本。",
    },
    "no_text_title": {"en": "No text to show", "zh": "没有可显示的文字"},
    "no_text": {"en": "The text of this file can't be shown here.", "zh": "无法在这里显示该文件的文字。"},
    "log_in_title": {"en": "Log in to open the file", "zh": "登录后打开文件"},
}


@dataclass(frozen=True, slots=True)
class PassagePage:
    """The page in one language for one passage: `found` is what is marked, `around` the text that is shown."""

    language: Language
    found: TextRange
    around: TextRange
    is_marked: bool

    def response(self) -> HTMLResponse:
        """Return the page."""
        item = self.found.item
        links = [*self._pdf(), self._link("download", self._download())]
        if self.found.version != item.version:
            links.append(self._link("newest", f"{PAGE}/{quote(item.id, safe='')}"))
        body = (
            f"<p class='small'><bdi>{escape(display_name(item.path))}</bdi></p>{self._version()}"
            f"<p>{' '.join(links)}</p><p class='small'>{said(self.language, 'extracted')}</p>"
            f"<pre class='text' dir='auto'>\n{self._text()}</pre>"
        )
        return page(self.language, display_name(item.name), body)

    def _text(self) -> str:
        text, offset = self.around.text, self.around.start
        begin, end = self.found.start - offset, self.found.end - offset
        cut = ("" if offset == 0 else "… ", "" if self.around.end == self.around.total_characters else " …")
        if not self.is_marked:
            return f"{cut[0]}{escape(text)}{cut[1]}"
        mark = f"<mark id='{escape(self._passage.anchor)}' tabindex='-1' autofocus>{escape(text[begin:end])}</mark>"
        return f"{cut[0]}{escape(text[:begin])}{mark}{escape(text[end:])}{cut[1]}"

    def _version(self) -> str:
        newest, version, place = self.found.item.version, self.found.version, self._place()
        if version != newest:
            told = said(self.language, "older", version=str(version), newest=str(newest))
            return f"<p class='notice'>{told}{f' · {place}' if place else ''}</p>"
        told = said(self.language, "version", version=str(version))
        return f"<p>{told}{f' · {place}' if place else ''}</p>"

    def _place(self) -> str:
        place = parse_place(self.found.place) if self.is_marked else None
        return place_in_words(self.language, place) if place else ""

    @property
    def _passage(self) -> Passage:
        found = self.found
        return Passage(found.item.id, found.version, found.start, found.end, found.place)

    def _pdf(self) -> list[str]:
        if self.found.item.media_type != PDF:
            return []
        place = parse_place(self.found.place)
        fragment = f"#page={place.first}" if place and place.kind == "page" and self.is_marked else ""
        address = f"{PAGE}/{quote(self.found.item.id, safe='')}/document{self._earlier()}{fragment}"
        return [self._link("pdf", address)]

    def _download(self) -> str:
        return f"/api/drive/files/{quote(self.found.item.id, safe='')}/content{self._earlier()}"

    def _earlier(self) -> str:
        """The newest version is open to viewers only where no number is asked for."""
        return "" if self.found.version == self.found.item.version else f"?version={self.found.version}"

    def _link(self, key: str, address: str) -> str:
        return f"<a class='button' href='{escape(address)}'>{said(self.language, key)}</a>"


def place_in_words(language: Language, place: Place) -> str:
    """Return a place as HTML as a person says it: `page 2`, `第 2 页`."""
    if place.columns:
        cells = f"{place.columns[0]}{place.first}:{place.columns[1]}{place.last}"
        return said(language, "sheet", name=display_name(place.name), at=cells)
    return said(language, place.kind, at=str(place).partition("=")[2])


def problem_page(language: Language, key: str, status: int, instead: str = "") -> HTMLResponse:
    """Say why the file does not open; `key` names the sentence, `instead` is the address of its newest version."""
    link = f"<p><a class='button' href='{escape(instead)}'>{said(language, 'newest')}</a></p>" if instead else ""
    return page(language, WORDS[f"{key}_title"][language], f"<p>{said(language, key)}</p>{link}", status)


def said(language: Language, key: str, **parts: str) -> str:
    """Return the sentence as HTML; the parts are escaped."""
    return WORDS[key][language].format(**{name: escape(value) for name, value in parts.items()})
