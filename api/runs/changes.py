"""Views of a run's changes and of an undo, in the person's language."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from api.drive import RunChange, RunUndo
from graph.drive.sentences import grouped, sentence, text
from graph.state import Language

View = dict[str, Any]


def change_to_view(change: RunChange, language: Language) -> View:
    """Return one change: `summary` is the journal's sentence, `text` the person's."""
    fields = {"id": change.id, "tool": change.tool, "summary": change.summary, "item_id": change.item_id}
    return {**fields, "text": sentence(change, language), "undone_by": change.undone_by}


def changes_to_view(changes: Sequence[RunChange], language: Language) -> View:
    """Return all changes in order, and grouped by action."""
    groups = [{**asdict(group), "change_ids": list(group.change_ids)} for group in grouped(changes, language)]
    return {"changes": [change_to_view(change, language) for change in changes], "groups": groups}


def undo_to_view(undo: RunUndo, language: Language) -> View:
    """Return the undone changes, and the skipped ones with their reason."""
    return {
        "undone": [change_to_view(change, language) for change in undo.undone],
        "skipped": [{**left, "text": text(left, "reason", language)} for left in undo.skipped],
        "change_id": undo.change_id,
        "preview": undo.preview,
    }
