"""The object of a request: an item of the drive, the open text, or a part of a named file.

The same verbs delete files and sentences. The names in the clause and the open document decide; else it stays unsure.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from graph.routing import cues
from graph.routing.intent_table import DOCUMENT, THING, Group, Row
from graph.routing.wording import FILE, MAIL, QUOTE
from graph.state import AgentName

SHAPING: Final = frozenset({"create_folder", "create_file", "copy", "move", "rename", "delete", "restore"})
"""Actions whose verbs also shape a text."""
IN_A_TEXT: Final = frozenset({"delete", "move", "rename", "restore"})
"""Those of them that mean parts of a text even with no document open."""
CREATES: Final = frozenset({"create_folder", "create_file", "compile"})
IDLE: Final = (cues.UNLESS, cues.SPOKEN_OF, cues.METHOD, cues.TELLS)
"""In a clause with the words of a change: nobody asks for it, or not without a condition."""
COMPARING: Final = re.compile(r"compare|比较|对比")
"""With the open document, or only with one another?"""
CHANGES: Final = frozenset[Group]({"organise", "edit"})


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: its action in the table, who takes it, whether it changes; `sure` if words tell its object.

    `apart`: beside other requests it is a step of its own, whoever takes it.
    """

    action: str
    group: Group
    agent: AgentName
    sure: bool = True
    apart: bool = False


EDIT: Final = Ask("edit", "edit", DOCUMENT)
READ_HERE: Final = Ask("read", "look", DOCUMENT)


def is_unsure(row: Row, said: str) -> bool:
    """Say whether it is only spoken of, hangs on a condition or on reading, or is about things that are in no drive."""
    if row.group != "look" and cues.FORBIDS.search(said):
        return True
    if row.group == "inspect":
        return False
    if row.group in CHANGES and (any(cue.search(said) for cue in IDLE) or _is_of_else(row, said)):
        return True
    if row.group == "organise" and row.action not in CREATES and cues.BY_CONTENT.search(said):
        return True
    if row.action == "create_file" and cues.DERIVED.search(said):
        return True
    if row.action == "read" and (cues.ABOUT_THE_FILE.search(said) or cues.OF_US.search(said)):
        return True
    named = FILE in said or QUOTE in said
    return not named and cues.ELSEWHERE.search(said) is not None and not cues.ABOUT.search(said)


def _is_of_else(row: Row, said: str) -> bool:
    """Say whether an edit is of no text, or a name of no file."""
    if row.action == "rename":
        return cues.SOMEBODYS_NAME.search(said) is not None and not cues.NAMEABLE.search(said)
    of_the_file = row.action == "edit" and cues.OF_THE_FILE.search(said) is not None
    return of_the_file and FILE not in said and not cues.TEXT_PARTS.search(said)


def asks_the_text(said: str) -> bool:
    """Say whether it is a question about the text that is open."""
    about = cues.TEXT_PARTS.search(said) or cues.OPEN_TEXT.search(said)
    other = FILE in said or cues.FOLDERS.search(said) or cues.ABOUT_THE_FILE.search(said)
    return about is not None and not other and cues.ABOUT_TEXT.match(said) is not None


def unsure(row: Row) -> Ask:
    """Return the request of the row, with an unclear item."""
    return Ask(row.action, row.group, row.leads, sure=False)


def unsure_here(row: Row, said: str) -> Ask:
    """Return the request of the row with a document open: rather an edit of it if a part of a text is named."""
    is_part = row.action in SHAPING and cues.TEXT_PARTS.search(said)
    return replace(EDIT, sure=False) if is_part else unsure(row)


def placed(row: Row, said: str, *, in_document: bool) -> Ask:
    """Decide between a thing of the drive and a part of a text: by the place, and by the nouns of the clause."""
    if row.group == "look":
        return _located(row, said) if in_document else _as_it_is(row)
    if row.action in SHAPING:
        return _shaped_here(row, said) if in_document else _of_a_file(row, said)
    if row.action == "share" and in_document and cues.TEXT_PARTS.search(said):
        return unsure(row)
    if row.action != "edit":
        return _as_it_is(row)
    is_sure = not _leaves_the_text(said) if in_document else _is_in_a_file(said)
    apart = bool(cues.MADE_INTO.match(said) or (FILE in said and cues.SHORTER.search(said)))
    return replace(EDIT, sure=is_sure, apart=apart)


def _as_it_is(row: Row) -> Ask:
    return Ask(row.action, row.group, row.leads)


def _shaped_here(row: Row, said: str) -> Ask:
    """Intents that may be about the drive or the text while a document is open."""
    if _writes_into(row, said):
        return EDIT
    if cues.FOLDERS.search(said):
        is_part = cues.IN_A_PART.search(said) or cues.TEXT_PARTS.search(said)
        return unsure_here(row, said) if is_part else _of_a_thing(row, said)
    if cues.TEXT_PARTS.search(said) or (cues.IN_HERE.search(said) and not _is_thing(said)):
        return unsure(row) if cues.NEW_FILE.search(said) else EDIT
    if row.action == "create_folder" and cues.CONTENTS_ZH.search(said):
        return EDIT
    return _of_a_thing(row, said)


def _of_a_thing(row: Row, said: str) -> Ask:
    return _as_it_is(row) if _is_thing(said) or row.action == "copy" else unsure(row)


def _of_a_file(row: Row, said: str) -> Ask:
    """Require a named file for a part of a text while no document is open."""
    if _writes_into(row, said) or (row.action in ("delete", "rename") and cues.OF_A_FILE.search(said)):
        return EDIT
    names = cues.NAMED_ZH.sub("", said) if row.action == "rename" else said
    is_part = cues.TEXT_PARTS.search(names) is not None
    if (cues.FROM_FILE.match(said) and not is_part) or (row.action == "copy" and is_part):
        return unsure(row)
    if row.action in IN_A_TEXT and is_part and not cues.FOLDERS.search(said):
        return EDIT if FILE in said else unsure(row)
    return _as_it_is(row)


def _writes_into(row: Row, said: str) -> bool:
    """Say whether an apparent new file or folder is written into a file that is there."""
    if row.action == "create_file":
        return said.startswith("write") and cues.PUT_INTO.search(said) is not None
    into = cues.PUT_INTO.search(said) or cues.CONTENTS_ZH.search(said)
    return row.action == "create_folder" and FILE in said and into is not None


def _is_in_a_file(said: str) -> bool:
    """Say whether an edit is of a named file's text."""
    if FILE not in said or cues.SHORTER.search(said) or (MAIL in said and not cues.TEXT_PARTS.search(said)):
        return False
    return cues.WEAK.match(said) is None or (cues.TEXT_PARTS.search(said) or cues.IN_TEXT.search(said)) is not None


def _leaves_the_text(said: str) -> bool:
    """Say whether an edit may be meant of something else than the text that is open."""
    outside = cues.INSIDE.sub(" ", said)
    if FILE in outside or cues.FOLDERS.search(outside) or cues.FORMATS.search(outside):
        return True
    if cues.STYLE.match(said):
        return False
    return cues.WEAK.match(said) is not None and not (cues.TEXT_PARTS.search(said) or cues.IN_TEXT.search(said))


def _is_thing(said: str) -> bool:
    return re.search(THING, cues.INSIDE.sub(" ", said).replace(QUOTE, " ")) is not None


def _located(row: Row, said: str) -> Ask:
    if cues.WHERE.match(said) and cues.HERE.search(said):
        return unsure(row)
    if FILE not in said and not cues.FOLDERS.search(said):
        alone = len(said.split()) == 1 and len(said) < 12
        if row.action == "find" and not (cues.ABOUT.search(said) or cues.TEXT_PARTS.search(said)):
            return unsure(row)
        if COMPARING.match(said) and not cues.TEXT_PARTS.search(said):
            return unsure(row)
        here = cues.IN_HERE if row.action == "find" else cues.HERE
        if here.search(said) or cues.TEXT_PARTS.search(said) or (alone and row.action == "read"):
            return Ask(row.action, row.group, DOCUMENT)
    return _as_it_is(row)
