"""The files that a browser needs for the first view: the modules that the entry imports, one by one, and the styles."""

import posixpath
import re
from html import escape
from typing import Final

import orjson

from api.page.files import PageFiles

ENTRY: Final = "app/main.js"
SHELL: Final = "index.html"
STYLE_MARK: Final = "<!-- styles -->"
SCRIPT_MARK: Final = "<!-- scripts -->"
_IMPORT = re.compile(r'(?:^|[\s;}])(?:import|export)\s*(?:[\w*${}\s,]+?from\s*)?"(\.{1,2}/[^"]+)"')


def modules(files: PageFiles, entry: str = ENTRY) -> list[str]:
    """Return the modules that an entry imports statically, itself first; in the order in which they are found."""
    found = [entry]
    for name in found:
        folder = posixpath.dirname(name)
        for address in _IMPORT.findall(files.text(name)):
            imported = posixpath.normpath(posixpath.join(folder, address))
            if imported not in found:
                found.append(imported)
    return found


def styles(files: PageFiles) -> list[str]:
    """Return the style sheets of the first view, in order: those that `app/styles.json` names."""
    return orjson.loads(files.text("app/styles.json"))


def first_page(files: PageFiles, language: str) -> str:
    """Return the HTML of the page: it names its styles and modules, so that a browser fetches them all at once.

    Words are fetched at once as well where they are one file: those of the language that the browser prefers.
    """
    if files.bundle:
        words = files.bundle.words.get(language)
        return _page(files, [files.bundle.style], list(files.bundle.scripts), [words] if words else [])
    return _page(files, styles(files), modules(files), [])


def _page(files: PageFiles, sheets: list[str], scripts: list[str], words: list[str]) -> str:
    def addresses(names: list[str]) -> list[str]:
        return [escape(files.address(name)) for name in names]

    links = [f'<link rel="stylesheet" href="{one}">' for one in addresses(sheets)]
    preloads = [f'<link rel="modulepreload" href="{one}">' for one in addresses(scripts)]
    fetches = [f'<link rel="preload" as="fetch" crossorigin href="{one}">' for one in addresses(words)]
    script = f'<script type="module" src="{escape(files.address(scripts[0]))}"></script>'
    page = files.text(SHELL).replace(STYLE_MARK, "\n".join(links))
    return page.replace(SCRIPT_MARK, "\n".join([*preloads, *fetches, script]))
