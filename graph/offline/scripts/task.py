"""The context of a script: the conversation, the person's language, the tools that are bound."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph.language import Language
from graph.offline.conversation import Conversation, Item, Result, Sections
from graph.offline.replay import Replay, Request, UnresolvedError, request
from graph.offline.wording import TEXTS, bounded, code, inert, path_of, quoted, say

MAX_SHOWN: Final = 180
ROOT: Final[Item] = {"id": "root", "kind": "folder", "name": "", "path": "/"}


@dataclass(frozen=True, slots=True)
class Task:
    """One call of the model as a specialist; `tools` are bound, with Chinese titles; `made` by it so far."""

    conversation: Conversation
    language: Language
    tools: Mapping[str, str]
    replay: Replay
    made: list[Item] = field(default_factory=list[Item])

    @property
    def sections(self) -> Sections:
        """The data of the system message."""
        return self.conversation.sections

    @property
    def here(self) -> Item:
        """The folder that was sent along, else the one where the person is, the root if nothing says so."""
        attached = next((one for one in self.sections.attachments if one.get("kind") == "folder"), None)
        return attached or self.sections.folder or ROOT

    @property
    def below(self) -> dict[str, str]:
        """The argument that keeps a search below the folder where the person is; none at the root."""
        return {} if self.here is ROOT or self.here.get("path") == "/" else {"folder_id": str(self.here["id"])}

    @property
    def given(self) -> list[Item]:
        """The items that a message is about if it names none: those that were sent along, else the open file."""
        opened: list[Item] = [{"kind": "file", **self.sections.file}] if self.sections.file else []
        return list(self.sections.attachments) or opened

    @property
    def is_underway(self) -> bool:
        """Say whether further steps of a plan follow: their answers come right after this one."""
        return self.sections.step.get("number") != self.sections.step.get("of")

    def say(self, code: str, **values: Any) -> str:
        """Return a sentence in the person's language."""
        return say(self.language, code, **values)

    def name(self, item: Item) -> str:
        """Return an item's name in quotation marks; the root has none."""
        if item.get("path") == "/":
            return self.say("here")
        return quoted(str(item["name"])) if item.get("name") else code(str(item.get("path") or item.get("id", "")))

    def role(self, role: str) -> str:
        """Return a role's name."""
        return self.say(role) if role in TEXTS else role

    def with_hint(self, text: str, code: str) -> str:
        """Return a sentence with a hint after it; within a plan only its last step gives hints."""
        blank = " " if self.language == "en" and "\n" not in text else "\n" if "\n" in text else ""
        return text if self.is_underway or not text or not code else f"{text}{blank}{self.say(code)}"

    def unresolved(self, code: str, **values: Any) -> UnresolvedError:
        """Return the error that ends the script with a sentence for the person."""
        return UnresolvedError(self.say(code, **values))

    def nothing_for(self, query: str, result: Result) -> str:
        """Return that a search found nothing, and how many files it could not search yet, where there are such."""
        note = re.search(r"[^.。]*(?:not indexed|尚未建立索引)[^.。]*[.。]", result.word("note"))
        said = self.say("found_nothing", query=quoted(query))
        return f"{said} {note[0].strip()}" if note else said

    def deed(self, tool: str, name: str) -> str:
        """Return a call as a few words, such as `rename item “plan.md”`: with the tool's Chinese title, or its name."""
        named = self.tools.get(tool)
        title = named if named and self.language == "zh" else tool.replace("_", " ")
        return f"{title} {quoted(name)}" if name else title

    def failed(self, result: Result, what: str) -> str:
        """Return the sentence that names the failed action and the reason."""
        if result.failure == "error":
            return self.say("failed", what=what, message=result.message or result.text)
        words = re.split(r"instead:|回复：", result.message)[-1].strip()
        return self.say(result.failure or "unknown", what=what, message=words)

    def failures(self, wanted: Sequence[tuple[Item, Request]], results: Sequence[Result]) -> list[str]:
        """Return a sentence for each failure; calls that failed alike share one."""
        alike: dict[str, list[str]] = {}
        for (item, one), result in zip(wanted, results, strict=True):
            if not result.worked:
                whom = f" ({one.args['email']})" if one.args.get("email") else ""
                what = self.deed(one.name, str(item.get("name") or "")) + whom
                alike.setdefault(self.failed(result, "\0"), []).append(what)
        return [text.replace("\0", self.say("and").join(deeds)) for text, deeds in alike.items()]

    def checked(self, result: Result, tool: str, name: str = "") -> Result:
        """Return a result that worked. Raises `UnresolvedError` with the reason otherwise."""
        if not result.worked:
            raise UnresolvedError(self.failed(result, self.deed(tool, name)))
        return result

    def ask(self, wanted: Sequence[Request]) -> list[Result]:
        """Make calls at once and return their results, whether they worked or not."""
        return self.replay.ask(wanted)

    def attempt(self, tool: str, /, **args: Any) -> Result:
        """Make one call, which may fail."""
        (result,) = self.ask([request(tool, **args)])
        return result

    def call(self, tool: str, name: str = "", /, **args: Any) -> Result:
        """Make one call that has to work, about the item of that name. Raises `UnresolvedError` if it failed."""
        return self.checked(self.attempt(tool, **args), tool, name)

    def carry_out(self, wanted: Sequence[tuple[Item, Request]], code: str, hint: str = "can_undo") -> str:
        """Make calls at once, each for its item, and report their outcomes."""
        results = self.ask([one for _, one in wanted])
        lines: list[str] = []
        for (item, one), result in zip(wanted, results, strict=True):
            if result.worked:
                facts = self._facts(item, one, result)
                lines.append(self.say(code, **facts))
                if result.data.get("has_account") is False:
                    lines.append(self.say("no_account", **facts))
        done = self.with_hint(bounded(lines, self.language), hint)
        return "\n".join(filter(None, [done, *self.failures(wanted, results)]))

    def _facts(self, before: Item, one: Request, result: Result) -> dict[str, Any]:
        """Return the values of the sentence that tells a change of an item."""
        item = {**before, **result.data} if "name" in result.data else before
        above = str(item.get("path", "")).rpartition("/")[0]
        return {
            "name": self.name(item), "old": quoted(str(before.get("name", ""))), "path": path_of(item),
            "folder": self.name({"path": above or "/", "name": above.rpartition("/")[2]}),
            "version": one.args.get("version"), "new": result.number("version") or "?", "url": result.word("url"),
            "email": result.word("email") or one.args.get("email"),
            "role": self.role(result.word("role") or str(one.args.get("role") or "viewer")),
            "content": inert(" ".join(str(one.args.get("content", "")).split())[:MAX_SHOWN])}  # fmt: skip
