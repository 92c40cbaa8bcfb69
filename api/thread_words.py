"""The words of threads: of their titles and messages, in English and Chinese.

A text becomes its words between blanks, each Chinese, Japanese or Korean character one of them. So one `LIKE` finds
words by their beginnings and Chinese words anywhere, on every database; deleting the row deletes the words. Looking
through 60 MB of them, a person's words of some years, takes a tenth of a second.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage
from sqlalchemy import ColumnElement, Executable, bindparam, insert, select, update
from sqlalchemy.orm import Session

from api.storage.tables import RunRow, ThreadRow, WordsRow, table_of
from drive_server.kernel.text.characters import CJK, fold_case
from graph.messages.others import others_items

MAX_TERMS: Final = 20
MAX_CHARACTERS: Final = 200_000
"""Of one turn: an answer that is longer is found by its beginning."""

_WORD: Final = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_WORDS: Final = table_of(WordsRow)
NEW_WORDS: Final = insert(_WORDS)
WHOLE_WORDS: Final = (
    update(_WORDS)
    .where(_WORDS.c.id == bindparam("run"))
    .values(words=bindparam("said"), others=bindparam("made_of"), is_whole=True)
)
"""Adds the words of a run's answers: `whole_words` has the parameters."""


def words_of(text: str) -> str:
    """Return the words of a text between blanks."""
    return f" {' '.join(_WORD.findall(fold_case(text[:MAX_CHARACTERS])))} "


def terms_of(query: str) -> list[str]:
    """Return the patterns of `LIKE`, each of which some text of a thread has to fit; empty if there is no word."""
    found = dict.fromkeys(words_of(word).rstrip() for word in query.split())
    return [f"%{term}%" for term in found if term][:MAX_TERMS]


def first_words(run: RunRow, title: str | None) -> list[dict[str, Any]]:
    """Return the row of a run that has not answered yet, and before it the one of a new thread's title."""
    own = _row(run.id, run.thread_id, run.user_id, run.message, is_whole=False)
    return [own] if title is None else [_row(run.thread_id, run.thread_id, run.user_id, title, is_whole=True), own]


def whole_words(run: RunRow, messages: Sequence[AnyMessage]) -> dict[str, str]:
    """Return the parameters of `WHOLE_WORDS` for a run whose answers are among its `messages`."""
    said = [message.text for message in messages if isinstance(message, AIMessage)]
    others = " ".join(sorted(others_items(messages)))
    return {"run": run.id, "said": words_of("\n".join([run.message, *said])), "made_of": others}


def renamed(thread_id: str, title: str) -> Executable:
    """Return the statement that stores the words of a thread's new title."""
    return update(_WORDS).where(_WORDS.c.id == thread_id).values(words=words_of(title))


def has_words(user_id: str, terms: Sequence[str], left_out: Collection[str]) -> ColumnElement[bool]:
    """Return the condition that each term stands in a thread of the person, but in those rows."""
    own = select(WordsRow.thread_id).where(WordsRow.user_id == user_id, WordsRow.id.not_in(left_out))
    condition = ThreadRow.user_id == user_id
    for term in terms:
        condition &= ThreadRow.id.in_(own.where(WordsRow.words.like(term)))
    return condition


def made_of_others(session: Session, user_id: str) -> dict[str, list[str]]:
    """Return the rows of a person that are made of other people's items, with these."""
    query = select(WordsRow.id, WordsRow.others).where(WordsRow.user_id == user_id, WordsRow.others != "")
    return {row: items.split() for row, items in session.execute(query)}


def _row(key: str, thread_id: str, user_id: str, text: str, *, is_whole: bool) -> dict[str, Any]:
    named = {"id": key, "thread_id": thread_id, "user_id": user_id}
    return {**named, "words": words_of(text), "others": "", "is_whole": is_whole}
