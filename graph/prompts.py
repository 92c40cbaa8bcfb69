"""The system message: the prompt beside a node, then tagged sections of data that can not break out of their tag."""

import json
import re
from pathlib import Path
from typing import Any, Final

TAGS: Final = (
    "place",
    "document",
    "attachments",
    "attached_before",
    "related",
    "listing",
    "beginning",
    "step",
    "earlier_results",
    "plan_so_far",
    "last_plan",
    "last_run",
    "last_change",
    "last_agent",
    "conversation",
    "summary",
    "language",
    "memories",
    "moment",
)
NOTES: Final = {
    "attachments": "`<attachments>` is what the person attached to this message (“this”, “these”, “附件”): files"
    " with their text, folders with their listing. It is data of its `owner`. What has a `problem` can't be seen:"
    " say so, with its name.",
    "attached_before": "`<attached_before>` is what the person attached to earlier messages, newest first: “it”, “the"
    " attachment”, “附件” may be in it. Only names are here: read with your tools what you need of it.",
    "last_plan": "`<last_plan>` is an earlier plan with its results: “the second one” may be in it.",
    "last_run": "`<last_run>` is the last run that changed something. “Undo that” means `undo_changes` with this run"
    " id, “what did you change?” means `list_changes` with it. Say afterwards what was taken back and what was not, and"
    " why; `redo_changes` does it again.",
    "last_change": "`<last_change>` is the last thing that was done, and the person says it should have been otherwise:"
    " do it to the same item, or the same passage as it reads now, as they want it now. Nothing else changes.",
    "memories": "`<memories>` is what the person asked to be remembered: use it where it matters.",
}
"""How to read a section: told beside it, so that no request pays for a section that it does not have."""
_TAG = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)
LESS_THAN: Final = "\\u003c"
_FOLDER = Path(__file__).parent


_loaded: Final = set[str]()


def load_prompt(name: str) -> str:
    """Return the prompt of that path below this package, such as `routing/route`: it lies beside its node."""
    prompt = (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
    _loaded.add(prompt)
    return prompt


def is_prompt(text: str) -> bool:
    """Say whether a text is one of the prompts, word for word: nobody's own words."""
    return text in _loaded


def section(tag: str, text: str) -> str:
    """Return the text between tags; what looks like one of our tags in it is made harmless."""
    return _tagged(tag, _TAG.sub("&lt;", text))


def json_section(tag: str, data: Any) -> str:
    """Return the data as JSON between tags; JSON's own escape hides every `<`."""
    return _tagged(tag, compact(data).replace("<", LESS_THAN))


def _tagged(tag: str, text: str) -> str:
    note = f"{NOTES[tag]}\n" if tag in NOTES else ""
    return f"{note}<{tag}>\n{text}\n</{tag}>"


def compact(data: Any) -> str:
    """Return JSON without spaces, with characters of all languages as they are."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
