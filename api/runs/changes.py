"""Views of a run's changes and of an undo, in the person's language."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from api.ports import RunChange, RunUndo
from graph.drive.sentences import grouped, sentence, text
from graph.state import Language

Told = dict[str, Any]


def told_change(change: RunChange, language: Language) -> Told:
    """Return one change: `summary` is the journal's sentence, `text` the person's."""
    known = {"id": change.id, "tool": change.tool, "summary": change.summary, "item_id": change.item_id}
    return {**known, "text": sentence(change, language), "undone_by": change.undone_by}


def told_changes(changes: Sequence[RunChange], language: Language) -> Told:
    """Return all changes in order, and grouped by what was done."""
    groups = [{**asdict(group), "change_ids": list(group.change_ids)} for group in grouped(changes, language)]
    return {"changes": [told_change(change, language) for change in changes], "groups": groups}


def told_undo(done: RunUndo, language: Language) -> Told:
    """Return what was taken back, and what is left with the reason."""
    return {
        "undone": [told_change(change, language) for change in done.undone],
        "skipped": [{**left, "text": text(left, "reason", language)} for left in done.skipped],
        "change_id": done.change_id,
        "preview": done.preview,
    }
