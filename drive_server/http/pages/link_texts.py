"""The page that a link shows to a person: a folder or a file to look at and download, in English and Chinese."""

from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import quote, urlencode

from starlette.responses import HTMLResponse

from drive_server.http.pages.layout import LANGUAGE_FIELD, Language, page
from drive_server.models import Item, Page
from drive_server.services.tree.names import display_name

UNITS: Final = ("B", "KB", "MB", "GB", "TB")
UNIT: Final = 1000
WORDS: Final[dict[str, dict[Language, str]]] = {
    "title": {"en": "Shared with you", "zh": "与您共享"},
    "download": {"en": "Download", "zh": "下载"},
    "up": {"en": "Up", "zh": "上一级"},
    "more": {"en": "More", "zh": "更多"},
    "empty": {"en": "This folder is empty.", "zh": "此文件夹为空。"},
    "count": {"en": "{count} items", "zh": "共 {count} 项"},
    "locked_title": {"en": "This link asks for a password", "zh": "此链接需要密码"},
    "password": {"en": "Password", "zh": "密码"},
    "open": {"en": "Open", "zh": "打开"},
    "wrong": {"en": "That is not the password.", "zh": "密码不正确。"},
    "wait": {
        "en": "Too many wrong passwords were tried on this link. Wait a minute.",
        "zh": "此链接的错误密码尝试次数过多。请等待一分钟。",
    },
    "gone_title": {"en": "This link leads nowhere", "zh": "此链接无效"},
    "gone": {
        "en": "It may have ended, or it was never there. Ask whoever gave it to you for a new one.",
        "zh": "它可能已经失效，或者从未存在。请向提供链接的人索取新的链接。",
    },
}


@dataclass(frozen=True, slots=True)
class LinkPage:
    """The page of one link in one language. `chosen`: the language is named in the address, and stays there."""

    language: Language
    token: str
    chosen: bool = False

    def file(self, item: Item) -> HTMLResponse:
        """Show a file."""
        body = (
            f"<h2>{_named(item)}</h2>{self._up(item)}<p class='small'>{_size(item.size)}</p>"
            f"<p>{self._download(item)}</p>"
        )
        return self._page("title", body)

    def folder(self, item: Item, listed: Page[Item]) -> HTMLResponse:
        """Show a folder with a part of what is in it."""
        rows = "".join(f"<li>{self._entry(entry)}</li>" for entry in listed.items)
        listing = f"<ul class='items'>{rows}</ul>" if rows else f"<p>{self._say('empty')}</p>"
        count = f"<p class='small'>{self._say('count', count=f'{listed.total or 0:,}')}</p>"
        more = self._link("more", item.id, listed.cursor) if listed.cursor else ""
        return self._page("title", f"<h2>{_named(item)}</h2>{self._up(item)}{count}{listing}{more}")

    def locked(self, notice: str = "", status: int = 403) -> HTMLResponse:
        """Ask for the password."""
        told = f"<p class='notice' role='alert'>{self._say(notice)}</p>" if notice else ""
        form = (
            f"{told}<form method='post'><label>{self._say('password')}"
            "<input type='password' name='password' required autocomplete='off' maxlength='128' autofocus></label>"
            f"<button class='main'>{self._say('open')}</button></form>"
        )
        return self._page("locked_title", form, status)

    def gone(self) -> HTMLResponse:
        """Say that there is no such link, or none any more."""
        return self._page("gone_title", f"<p>{self._say('gone')}</p>", 404)

    def _entry(self, item: Item) -> str:
        if item.kind == "folder":
            return f"<span>📁 <a href='{self._address(item.id)}'>{_named(item)}</a></span>"
        size = f"<span class='small'>{_size(item.size)}</span>"
        return f"<span>📄 {_named(item)}</span>{size}{self._download(item)}"

    def _download(self, item: Item) -> str:
        address = f"/api/links/{quote(self.token)}/items/{quote(item.id)}/content"
        return f"<a class='button' href='{address}' download>{self._say('download')}</a>"

    def _up(self, item: Item) -> str:
        return f"<p>{self._link('up', item.parent_id)}</p>" if item.parent_id else ""

    def _link(self, key: str, item_id: str, cursor: str | None = None) -> str:
        return f"<a href='{self._address(item_id, cursor)}'>{self._say(key)}</a>"

    def _address(self, item_id: str, cursor: str | None = None) -> str:
        query = {"item": item_id, "cursor": cursor, LANGUAGE_FIELD: self.language if self.chosen else None}
        return escape(f"/s/{quote(self.token)}?{urlencode({key: value for key, value in query.items() if value})}")

    def _page(self, title: str, body: str, status: int = 200) -> HTMLResponse:
        return page(self.language, WORDS[title][self.language], body, status)

    def _say(self, key: str, **parts: str) -> str:
        return WORDS[key][self.language].format(**{name: escape(value) for name, value in parts.items()})


def _named(item: Item) -> str:
    """Return the name, isolated: one that is written from right to left turns nothing around it."""
    return f"<bdi>{escape(display_name(item.name))}</bdi>"


def _size(size: int) -> str:
    amount, unit = float(size), 0
    while amount >= UNIT and unit < len(UNITS) - 1:
        amount, unit = amount / UNIT, unit + 1
    return f"{amount:.0f} {UNITS[unit]}" if unit == 0 else f"{amount:.1f} {UNITS[unit]}"
