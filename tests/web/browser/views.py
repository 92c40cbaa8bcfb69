"""Every view of the page, by name: where it is, how it is opened from there, and what shows that it is there."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from playwright.sync_api import expect

from tests.fakes.chat_model import tool_call

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel

WEB: Final = Path(__file__).parents[3] / "api" / "web"
PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
ANSWER: Final = (
    "## Rent\n\nThe rent is **due on the first**. See `lease.md`.\n\n"
    "| month | paid |\n|---|---|\n| May | yes |\n| June | no |\n\n```python\nprint('rent')\n```\n\n- one\n- two\n"
)
SETTINGS: Final = (
    "profile security keys connect mcp assistants memory grants notices people groups".split()  # noqa: SIM905 - names
)

Opening = Callable[["Page", "Words"], None]


@cache
def texts(language: str) -> dict[str, Any]:
    """Return all words of the page in a language, by key."""
    found: dict[str, Any] = {}
    for file in WEB.rglob(f"texts/{language}.json"):
        found |= json.loads(file.read_text())
    return found


@dataclass(frozen=True)
class Words:
    """The words of the page in one language."""

    language: str

    def __call__(self, key: str) -> str:
        return texts(self.language)[key]


@dataclass(frozen=True)
class View:
    """One view. `shown` is a selector of what is there once it is drawn."""

    place: str
    shown: str
    opening: Opening | None = None

    def open(self, page: Page, words: Words) -> None:
        """Go there in a page that is open already."""
        page.keyboard.press("Escape")
        page.evaluate("place => { location.hash = place; }", self.place)
        if self.opening:
            self.opening(page, words)
        expect(page.locator(self.shown).first).to_be_visible()
        expect(page.get_by_text(words("shared.loading"), exact=True)).to_have_count(0)


@dataclass(frozen=True)
class World:
    """What the views show: ids of items and threads."""

    file: str
    table: str
    image: str
    talk: str
    asked: str


def furnish(owner: Person, model: ScriptedChatModel) -> World:
    """Make a drive in which every view has something to show."""
    for name in ("Invoices 发票", "Archive"):
        owner.folder(name)
    file = owner.upload("lease.md", "# Lease\n\nThe rent is due on the first.\n\n- [ ] sign\n")
    owner.http.put(f"/api/drive/files/{file['id']}/content", content="# Lease\n\nThe rent is due.\n").raise_for_status()
    table = owner.upload("rent.csv", "month,paid\nMay,yes\nJune,no\n")
    image = owner.upload("sketch.png", PIXEL)
    gone = owner.upload("old.txt", "old\n")
    owner.http.post(f"/api/drive/items/{gone['id']}/trash").raise_for_status()
    owner.http.put(f"/api/drive/items/{file['id']}/star").raise_for_status()
    owner.http.post("/api/users", json={"email": "bea@example.com"}).raise_for_status()
    share = {"email": "bea@example.com", "role": "viewer"}
    owner.http.post(f"/api/drive/items/{file['id']}/shares", json=share).raise_for_status()
    model.script[:] = [tool_call("create_folder", "c1", name="Made by the assistant"), ANSWER]
    with owner.chat("When is the rent due?") as turn:
        turn.finish()
        talk = turn.of("run")[0]["thread_id"]
    model.script[:] = [tool_call("trash_item", "t1", item_id=table["id"])]
    with owner.chat("Throw the table away") as turn:
        turn.until("approval_needed")
        asked = turn.of("run")[0]["thread_id"]
    return World(file["id"], table["id"], image["id"], talk, asked)


APPROVABLE: Final = ".approval-ways button:first-child:not([aria-disabled])"
"""The button that approves, once the card has stood still."""


def views(world: World) -> dict[str, View]:
    """Return the views by name. Those of an item's menu are opened from the open file."""
    file = f"#/file/{world.file}"
    lists = {name: View(f"#/{name}", ".items") for name in ("trash", "recent", "starred")}
    of_file = {
        "versions": View(file, "dialog", _menu("files.action.versions")),
        "sharing": View(file, "dialog", _menu("files.action.share")),
        "details": View(file, "dialog", _menu("files.action.details")),
        "picker": View(file, "dialog", _menu("files.action.move")),
    }
    return {
        "folder": View("#/folder/root", ".items .item"),
        **lists,
        "shared": View("#/shared", ".items, .state"),
        "pictures": View("#/folder/root", ".pictures .item", _pictures),
        "search": View("#/search?q=rent", ".search-results .hit"),
        "file": View(file, ".files h1, .files h2"),
        "table": View(f"#/file/{world.table}", "[role=table]"),
        "image": View(f"#/file/{world.image}", ".files img"),
        "editor": View(f"{file}?edit=1", "textarea"),
        **of_file,
        "changes": View("#/changes", ".activity-list li"),
        "palette": View("#/folder/root", "[role=option]", _palette),
        "menu": View("#/folder/root", "[role=menuitem]", _new),
        **{f"settings {name}": View(f"#/settings/{name}", ".settings-shown h2") for name in SETTINGS},
        "conversation": View(f"#/folder/root?thread={world.talk}", ".chat table"),
        "approval": View(f"#/folder/root?thread={world.asked}", APPROVABLE),
        "threads": View(f"#/folder/root?thread={world.talk}", ".threads li", _threads),
    }


def _menu(key: str) -> Opening:
    def open_menu(page: Page, words: Words) -> None:
        page.get_by_role("button", name=words("preview.actions"), exact=True).click()
        page.get_by_role("menuitem", name=words(key)).first.click()

    return open_menu


def _pictures(page: Page, words: Words) -> None:
    page.get_by_role("button", name=words("files.look")).click()
    page.get_by_role("menuitemradio", name=words("files.layout.pictures")).click()


def _palette(page: Page, words: Words) -> None:
    del words
    expect(page.locator(".items .item").first).to_be_visible()  # the folder's own commands are there with its items
    page.keyboard.press("Control+k")


def _new(page: Page, words: Words) -> None:
    page.get_by_role("button", name=words("files.new"), exact=True).click()


def _threads(page: Page, words: Words) -> None:
    page.get_by_role("button", name=words("chat.threads"), exact=True).click()
