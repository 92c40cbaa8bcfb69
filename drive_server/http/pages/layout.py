"""Pages for people, without scripts and without anything from elsewhere, in English and Chinese."""

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import Final

from starlette.responses import HTMLResponse

from drive_server.kernel.http.languages import TAGS
from drive_server.kernel.messages import LANGUAGES, Language
from drive_server.kernel.texts import Texts

Words = Mapping[str, Mapping[Language, str]]
"""The sentences of a page by key; they are HTML, with names of parts in braces."""
TEXTS: Final = Texts.beside(__file__)
"""The sentences of all pages of this room; a code begins with the name of its page."""

STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
fieldset { border: 1px solid #8888; border-radius: .5rem; margin: 1rem 0; }
label { display: block; padding: .2rem 0; }
input[type=password], input[name=email], select { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem; }
button { font: inherit; padding: .5rem 1.2rem; margin: .5rem .5rem 0 0; border-radius: .5rem; border: 1px solid #8888; }
button.main { background: #1a56db; color: #fff; border-color: #1a56db; }
code { font-size: 1.3rem; letter-spacing: .1em; }
.notice { border-left: .3rem solid #c27803; padding-left: .8rem; }
a.button { display: inline-block; padding: .3rem .9rem; border-radius: .5rem; border: 1px solid #8888; }
ul.items { list-style: none; padding: 0; }
ul.items li { display: flex; gap: .8rem; align-items: center; padding: .4rem 0; border-bottom: 1px solid #8884; }
ul.items li > :first-child { flex: 1; overflow-wrap: anywhere; }
pre.text { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { scroll-margin: 30vh 0; }
.small { font-size: .85rem; opacity: .8; }
"""
_STYLE_HASH: Final = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY: Final = "Content-Security-Policy"
OWN_FORMS: Final = "form-action 'self'"
HEADERS: Final = {
    POLICY: (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; {OWN_FORMS}; frame-ancestors 'none'; base-uri 'none'"
    ),
}
# By `no-referrer` alone, browsers send `Origin: null` with our own forms. This tells no other site more.
FORM_REFERRER: Final = '<meta name="referrer" content="same-origin">'


def words_of(texts: Texts, page: str) -> Words:
    """Return the sentences of a page: the texts whose codes begin with its name."""
    codes = (code for code in texts.codes if code.startswith(f"{page}."))
    return {
        code.removeprefix(f"{page}."): {language: texts.template(code, language) for language in LANGUAGES}
        for code in codes
    }


def sentence(words: Words, language: Language, key: str, **parts: str) -> str:
    """Return a sentence as HTML; the parts are escaped here."""
    return words[key][language].format(**{name: escape(value) for name, value in parts.items()})


def notice(words: Words, language: Language, key: str) -> str:
    """Return a sentence that stands out, as HTML; nothing without a key."""
    return f"<p class='notice' role='alert'>{sentence(words, language, key)}</p>" if key else ""


def page(language: Language, title: str, body: str, status: int = 200, leads_to: str = "") -> HTMLResponse:
    """Return a page. The body is HTML, with foreign parts escaped; the title is escaped here.

    `leads_to` is a source of the policy to which the answer to a form may lead on: browsers stop others there.
    """
    named = escape(title)
    return HTMLResponse(
        f'<!doctype html>\n<html lang="{TAGS[language]}"><head><meta charset="utf-8"><title>{named}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="robots" content="noindex">{FORM_REFERRER if "<form" in body else ""}<style>{STYLE}</style></head>'
        f"<body><main><h1>{named}</h1>\n{body}\n</main></body></html>\n",
        status,
        {POLICY: HEADERS[POLICY].replace(OWN_FORMS, f"{OWN_FORMS} {leads_to}")} if leads_to else HEADERS,
    )


def refused(language: Language) -> HTMLResponse:
    """Say that another site's page can't answer for the person."""
    return page(
        language, TEXTS.say("layout.refused_title", language), f"<p>{TEXTS.say('layout.refused', language)}</p>", 403
    )
