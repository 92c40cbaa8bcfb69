"""The part of a passage that shows why it was found."""

import re

MAX_SNIPPET_CHARACTERS = 500
LEAD_CHARACTERS = 120


def cut_snippet(text: str, query: str, limit: int = MAX_SNIPPET_CHARACTERS) -> tuple[str, int]:
    """Return at most `limit` characters of the text around the first word of the query in it, and where they start."""
    if len(text) <= limit:
        return text, 0
    place = _first_place(text, query)
    start = max(0, min(place - LEAD_CHARACTERS, len(text) - limit))
    start = _next_word(text, start, place)
    return text[start : start + limit], start


def _first_place(text: str, query: str) -> int:
    whole = re.search(re.escape(query), text, re.IGNORECASE)
    words = "|".join(re.escape(word) for word in query.split())
    found = whole or re.search(words, text, re.IGNORECASE)
    return found.start() if found else 0


def _next_word(text: str, start: int, place: int) -> int:
    """Move on to the beginning of a word, where there is one before the place."""
    if start == 0:
        return 0
    space = re.compile(r"\s+").search(text, start, place)
    return space.end() if space else start
