"""The system message: the prompt beside a node, then tagged sections of data that can not break out of their tag."""

import json
import re
from pathlib import Path
from typing import Any, Final

TAGS: Final = (
    "place",
    "document",
    "attachments",
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
    return f"<{tag}>\n{_TAG.sub('&lt;', text)}\n</{tag}>"


def json_section(tag: str, data: Any) -> str:
    """Return the data as JSON between tags; JSON's own escape hides every `<`."""
    return f"<{tag}>\n{compact(data).replace('<', LESS_THAN)}\n</{tag}>"


def compact(data: Any) -> str:
    """Return JSON without spaces, with characters of all languages as they are."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
