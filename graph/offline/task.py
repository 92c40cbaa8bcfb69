"""What a script works with: the conversation, the person's language, the tools that are bound."""

from dataclasses import dataclass
from typing import Any, Final

from graph.offline.reading.conversation import Conversation, Item
from graph.offline.reading.sections import Sections
from graph.offline.replay import UnresolvedError
from graph.offline.speech.wording import PHRASES, say
from graph.state import AgentName, Language

ROOT: Final = "root"


@dataclass(frozen=True, slots=True)
class Task:
    """One call of the model as a specialist."""

    conversation: Conversation
    language: Language
    tools: frozenset[str]

    @property
    def sections(self) -> Sections:
        """What the system message tells."""
        return self.conversation.sections

    @property
    def role(self) -> AgentName:
        """The specialist that these tools make."""
        if "patch_file" in self.tools:
            return "document_agent"
        return "drive_agent" if "share_item" in self.tools or "create_folder" in self.tools else "search_agent"

    @property
    def current_folder_id(self) -> str:
        """The folder where the person is, the root if it is not told."""
        return str(self.sections.folder["id"]) if self.sections.folder else ROOT

    def here(self) -> Item:
        """Return the folder where the person is."""
        return self.sections.folder or {"id": ROOT, "kind": "folder", "name": "", "path": "/"}

    def say(self, key: str, **values: Any) -> str:
        """Return a sentence in the person's language."""
        return say(self.language, key, **values)

    @property
    def is_underway(self) -> bool:
        """Whether further steps of a plan follow: what they say comes right after this."""
        return self.sections.step.get("number") != self.sections.step.get("of")

    def knows(self, key: str) -> bool:
        """Say whether there is such a sentence in the person's language."""
        return key in PHRASES[self.language]

    def with_hint(self, text: str, key: str) -> str:
        """Return a sentence with a hint after it; within a plan only its last step gives hints."""
        if self.is_underway:
            return text
        return f"{text}{' ' if text and self.language == 'en' else ''}{self.say(key)}"

    def unresolved(self, key: str, **values: Any) -> UnresolvedError:
        """Return the error that ends the script with a sentence for the person."""
        return UnresolvedError(self.say(key, **values))
