"""What tests of both protocols say, and where they look for what came of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.api.command_model import command

if TYPE_CHECKING:
    from tests.e2e.person import Person

MODEL = "drive_agent"
ADDRESS = re.compile(r"https?://\S+/approve/\S+")


def user(text: Any) -> Any:
    return {"role": "user", "content": text}


def assistant(text: str) -> Any:
    return {"role": "assistant", "content": text}


def system(text: str) -> Any:
    return {"role": "system", "content": text}


def ask(client: Any, *messages: Any, **options: Any) -> str:
    made = client.chat.completions.create(model=MODEL, messages=[*messages], **options)
    return made.choices[0].message.content or ""


def threads_of(person: Person) -> list[dict[str, Any]]:
    return person.get("/api/threads")["items"]


def messages_of(person: Person, thread_id: str) -> list[tuple[str, str]]:
    found = person.get(f"/api/threads/{thread_id}")["messages"]
    return [(one["role"], one["text"]) for one in found if one["text"]]


def orders_of(person: Person) -> list[str]:
    """Return the person's messages in the thread that was used last."""
    return [text for role, text in messages_of(person, threads_of(person)[0]["thread_id"]) if role == "user"]


def trash(person: Person, name: str) -> str:
    """Make a file, and return the order to trash it, which asks."""
    return command("trash_item", item_id=person.upload(name, "text")["id"])


def waiting(person: Person) -> list[dict[str, Any]]:
    return person.get("/api/approvals")["items"]


def decide_all(person: Person, kind: str = "approve") -> None:
    for approval in waiting(person):
        person.answer(approval, kind)
