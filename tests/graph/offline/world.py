"""A tiny drive in memory behind the tools' names, and a loop that lets the offline model work in it as the graph does.

Only what a model sees goes to it: a system message with sections, the history, tool messages as text and JSON.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel

from graph.agents.document_agent import DOCUMENT_AGENT
from graph.agents.drive_agent import DRIVE_AGENT
from graph.agents.search_agent import SEARCH_AGENT
from graph.messages.written import result_message
from graph.offline.model import OfflineChatModel
from graph.prompts import compact, json_section, section

TOOLS = {agent.name: agent.tools for agent in (DOCUMENT_AGENT, DRIVE_AGENT, SEARCH_AGENT)}
REJECTED = "The person rejected this. It was not done."
MAX_ROUNDS = 20


class RouteDecision(BaseModel):
    """The schema that the route node binds."""

    agent: str
    needs_plan: bool
    confidence: float
    reason: str


class PlannedStep(BaseModel):
    """A step as the plan node binds it."""

    title: str
    agent: str
    instruction: str


class TaskPlan(BaseModel):
    """The schema that the plan node binds."""

    steps: list[PlannedStep]


class RefusedError(Exception):
    """The drive says no: a code and a sentence."""


@dataclass
class Drive:
    """Items by id; `root` is the root folder. Every tool answers (text, data) or raises `RefusedError`."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    shares: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    undone: list[str] = field(default_factory=list[str])
    links: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    most: int = 50_000
    filters: dict[str, Any] = field(default_factory=dict[str, Any])
    """The filters of the last search or list of changes."""

    def __post_init__(self) -> None:
        self._ids = count(1)
        self.items["root"] = {"id": "root", "kind": "folder", "name": "", "parent_id": None, "trashed_at": None}

    def put(self, path: str, text: str | None = None) -> str:
        """Make a folder, or a file with a text, at a path whose folder exists."""
        above, _, name = path.rpartition("/")
        return self._add(name, self.find(above or "/")["id"], text)

    def find(self, ref: str) -> dict[str, Any]:
        """Return the live item with this id or path."""
        if ref in {"/", "root"}:
            return self.items["root"]
        found = [item for item in self.items.values() if item["id"] == ref or self.path(item) == ref]
        if not found:
            raise RefusedError("not_found", "There is no such item, or it is not shared with you.")
        return found[0]

    def path(self, item: dict[str, Any]) -> str:
        """Return where an item is."""
        if item["parent_id"] is None:
            return "/"
        return f"{self.path(self.items[item['parent_id']]).rstrip('/')}/{item['name']}"

    def names(self, ref: str) -> list[str]:
        """Return the names of what is in a folder."""
        return sorted(item["name"] for item in self.children(ref))

    def children(self, ref: str) -> list[dict[str, Any]]:
        """Return what is in a folder, folders first."""
        folder = self.find(ref)["id"]
        live = [item for item in self.items.values() if item["parent_id"] == folder and not item["trashed_at"]]
        return sorted(live, key=lambda item: (item["kind"] == "file", item["name"]))

    def text(self, path: str) -> str:
        """Return a file's text as it is now."""
        return self.texts[self.find(path)["id"]][-1]

    def view(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return an item as it is on the wire."""
        versions = len(self.texts.get(item["id"], []))
        return {**item, "path": self.path(item), "etag": "e1", "version": versions, "role": "owner"}

    def _add(self, name: str, parent: str, text: str | None) -> str:
        if any(item["name"] == name for item in self.children(parent)):
            raise RefusedError("name_conflict", f"There is a {name!r} already.")
        key = f"id{next(self._ids)}"
        kind = "folder" if text is None else "file"
        self.items[key] = {"id": key, "kind": kind, "name": name, "parent_id": parent, "trashed_at": None}
        if text is not None:
            self.texts[key] = [text]
        return key

    def call(self, name: str, args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Run a tool."""
        return getattr(self, f"tool_{name}")(**args)

    def tool_list_folder(self, folder_id: str = "root", limit: int = 100, cursor: str | None = None) -> Any:
        if folder_id == "trash":
            every = [item for item in self.items.values() if item["trashed_at"]]
        else:
            every = self.children(folder_id)
        start = int(cursor or 0)
        page = [self.view(item) for item in every[start : start + limit]]
        following = str(start + limit) if start + limit < len(every) else None
        return f"{len(page)} items.", {"items": page, "cursor": following, "total": len(every)}

    def tool_get_folder_tree(self, folder_id: str = "root", depth: int = 2) -> Any:
        def node(item: dict[str, Any], level: int) -> dict[str, Any]:
            below = self.children(item["id"]) if item["kind"] == "folder" and level else []
            return {"item": self.view(item), "children": [node(one, level - 1) for one in below], "truncated": False}

        return "The tree.", node(self.find(folder_id), depth)

    def tool_get_file_info(self, item_id: str) -> Any:
        return "Info.", self.view(self.find(item_id))

    def tool_create_folder(self, name: str, folder_id: str = "root") -> Any:
        return "Created.", self.view(self.items[self._add(name, self.find(folder_id)["id"], None)])

    def tool_create_file(self, name: str, content: str, folder_id: str = "root") -> Any:
        return "Created.", self.view(self.items[self._add(name, self.find(folder_id)["id"], content)])

    def tool_read_file(self, file_id: str, start: int | None = None, end: int | None = None) -> Any:
        item = self.find(file_id)
        whole = self.texts[item["id"]][-1]
        first = start or 0
        last = min(end or len(whole), len(whole), first + self.most)
        part = whole[first:last]
        lines = whole.count("\n", 0, first) + 1
        data = {"file": self.view(item), "text": part, "start": first, "end": last, "total_characters": len(whole)}
        numbers = {"first_line": lines, "last_line": lines + part.count("\n"), "total_lines": whole.count("\n") + 1}
        return "Read.", {**data, **numbers, "truncated": False}

    def tool_patch_file(self, file_id: str, edits: list[dict[str, str]]) -> Any:
        item = self.find(file_id)
        text = self.texts[item["id"]][-1]
        for edit in edits:
            if text.count(edit["find"]) != 1:
                matches = text.count(edit["find"])
                found = f"matches {matches} places" if matches else "matches nothing"
                raise RefusedError("edit_mismatch", f"Edit 1 {found} in the text; it must match exactly one.")
            text = text.replace(edit["find"], edit["replace"])
        self.texts[item["id"]].append(text)
        return "Edited.", self.view(item)

    def tool_write_file(self, file_id: str, content: str) -> Any:
        item = self.find(file_id)
        self.texts[item["id"]].append(content)
        return "Wrote.", self.view(item)

    def tool_append_to_file(self, file_id: str, content: str) -> Any:
        item = self.find(file_id)
        before = self.texts[item["id"]][-1]
        gap = "" if not before or before.endswith("\n") else "\n"
        self.texts[item["id"]].append(f"{before}{gap}{content}\n")
        return "Appended.", self.view(item)

    def tool_list_versions(self, file_id: str) -> Any:
        texts = self.texts[self.find(file_id)["id"]]
        versions = [{"number": n, "current": n == len(texts), "size": 1} for n in range(len(texts), 0, -1)]
        return "Versions.", {"versions": versions, "cursor": None}

    def tool_restore_version(self, file_id: str, version: int) -> Any:
        item = self.find(file_id)
        self.texts[item["id"]].append(self.texts[item["id"]][version - 1])
        return "Restored.", self.view(item)

    def tool_rename_item(self, item_id: str, name: str) -> Any:
        item = self.find(item_id)
        item["name"] = name
        return "Renamed.", self.view(item)

    def tool_move_items(self, item_ids: list[str], folder_id: str) -> Any:
        items = [self.tool_move_item(item_id, folder_id)[1] for item_id in item_ids]
        return "Moved.", {"items": items, "unchanged": [], "folder": self.view(self.find(folder_id))}

    def tool_copy_item(self, item_id: str, folder_id: str, name: str | None = None, on_conflict: str = "fail") -> Any:
        item, folder = self.find(item_id), self.find(folder_id)
        called = name or (f"{item['name']} (2)" if on_conflict == "rename" else str(item["name"]))
        return "Copied.", self.view(self.items[self._add(called, folder["id"], self.texts[item["id"]][-1])])

    def tool_move_item(self, item_id: str, folder_id: str) -> Any:
        item = self.find(item_id)
        item["parent_id"] = self.find(folder_id)["id"]
        return "Moved.", self.view(item)

    def tool_trash_item(self, item_id: str) -> Any:
        item = self.find(item_id)
        item["trashed_at"] = "2026-01-01T00:00:00Z"
        return "Trashed.", self.view(item)

    def tool_list_trash(self, limit: int = 100) -> Any:
        return self.tool_list_folder("trash", limit)

    def tool_delete_item(self, item_id: str) -> Any:
        del self.items[item_id]
        return "Deleted.", {"count": 1, "items": []}

    def tool_empty_trash(self) -> Any:
        gone = [key for key, item in self.items.items() if item["trashed_at"]]
        for key in gone:
            del self.items[key]
        return "Emptied.", {"count": len(gone), "items": []}

    def tool_restore_item(self, item_id: str) -> Any:
        item = self.find(item_id)
        item["trashed_at"] = None
        return "Restored.", self.view(item)

    def tool_search_files(
        self, query: str = "", folder_id: str | None = None, kind: str | None = None, limit: int = 20, **filters: Any
    ) -> Any:
        self.filters = filters
        words = query.casefold().split()
        live = [item for item in self.items.values() if not item["trashed_at"] and item["parent_id"] is not None]
        below = [item for item in live if folder_id is None or item["parent_id"] == folder_id]
        fits = [item for item in below if all(word in item["name"].casefold() for word in words)]
        fits = [item for item in fits if kind in {None, item["kind"]}]
        return "Hits.", {"hits": [self._hit(item, item["name"]) for item in fits[:limit]], "cursor": None, "note": ""}

    def tool_semantic_search_files(self, query: str, limit: int = 10, folder_id: str | None = None) -> Any:
        del folder_id
        live = [item for item in self.items.values() if item["id"] in self.texts and not item["trashed_at"]]
        hits = [self._hit(item, self.texts[item["id"]][-1]) for item in live]
        hits.sort(key=lambda hit: -sum(hit["text"].count(query[at : at + 2]) for at in range(len(query) - 1)))
        return "Hits.", {"hits": hits[:limit], "cursor": None, "note": ""}

    def _hit(self, item: dict[str, Any], text: str) -> dict[str, Any]:
        return {"file": self.view(item), "score": 1.0, "text": text, "start": 0, "end": len(text), "heading": ""}

    def tool_share_item(self, item_id: str, email: str, role: str = "viewer") -> Any:
        self.shares.append((self.path(self.find(item_id)), email, role))
        return "Shared.", {"item_id": item_id, "email": email, "role": role, "inherited_from": None} | (
            {"has_account": False} if email.startswith("nobody@") else {}
        )

    def tool_list_shares(self, item_id: str) -> Any:
        path = self.path(self.find(item_id))
        shares = [{"email": email, "role": role} for shared, email, role in self.shares if shared == path]
        return "Shares.", {"shares": shares}

    def tool_revoke_share(self, item_id: str, email: str) -> Any:
        path = self.path(self.find(item_id))
        self.shares = [share for share in self.shares if share[:2] != (path, email)]
        return "Revoked.", {"item_id": item_id, "email": email, "role": "viewer"}

    def tool_update_share(self, item_id: str, email: str, role: str) -> Any:
        path = self.path(self.find(item_id))
        self.shares = [(one, who, role if (one, who) == (path, email) else has) for one, who, has in self.shares]
        return "Changed.", {"item_id": item_id, "email": email, "role": role}

    def tool_create_share_link(self, item_id: str, role: str = "viewer", **terms: Any) -> Any:
        self.links.append((self.path(self.find(item_id)), terms))
        return "Made a link.", {"id": "l1", "kind": "link", "item_id": item_id, "role": role, "url": "http://drive/s/1"}

    def tool_get_download_url(self, file_id: str, version: int | None = None) -> Any:
        del version
        return "Until soon.", {"file": self.view(self.find(file_id)), "url": "http://drive/d/1", "expires_at": ""}

    def tool_list_shared_with_me(self, limit: int = 100) -> Any:
        del limit
        return "0 items.", {"items": [], "cursor": None}

    def tool_find_related_files(self, file_id: str, limit: int = 10) -> Any:
        files = [item for item in self.items.values() if item["id"] in self.texts and item["id"] != file_id]
        return "Hits.", {"hits": [self._hit(item, item["name"]) for item in files[:limit]]}

    def tool_diff_versions(self, file_id: str, from_version: int) -> Any:
        last = len(self.texts[file_id])
        return "Diff.", {"from_version": from_version, "to_version": last, "diff": "-old\n+new\n"}

    def tool_redo_changes(self) -> Any:
        return "Did 1 change again.", {"redone": [{"summary": "Moved 'a.txt' to the trash."}], "skipped": []}

    def tool_undo_changes(self, run_id: str | None = None) -> Any:
        self.undone.append(run_id or "")
        undone = [{"summary": "Moved 'a.txt' to the trash.", "tool": "trash_item"}]
        return "Took back 1 change.", {"undone": undone, "skipped": [], "change_id": 1, "preview": False}

    def tool_list_changes(self, limit: int = 50, **filters: Any) -> Any:
        del limit
        self.filters = filters
        changes = [{"id": 1, "at": "2026-01-01T08:30:00Z", "action": "create_file", "summary": "Created 'a.txt'."}]
        return "Changes.", {"changes": changes, "cursor": None}

    def tool_whoami(self) -> Any:
        known = {"indexed": len(self.texts), "pending": 0}
        return "me", {"email": "me@example.com", "scopes": ["read", "write"], "used_bytes": 2_000, "index": known}


Verdict = Callable[[str, dict[str, Any]], str | dict[str, Any]]
"""Says of a call: "approve", "reject", or the arguments to run it with instead."""


@dataclass
class Talk:
    """A conversation with the offline model in a drive; keeps what was said and called."""

    drive: Drive = field(default_factory=Drive)
    file_id: str | None = None
    folder_id: str = "root"
    last_run: str = ""
    attached: tuple[str, ...] = ()
    verdict: Verdict = lambda name, args: "approve"  # noqa: ARG005 - everything is approved unless a test says otherwise
    model: OfflineChatModel = field(default_factory=OfflineChatModel)

    def __post_init__(self) -> None:
        self.messages: list[AnyMessage] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.rounds: list[int] = []
        self.agents: list[str] = []
        self._runs = count(1)

    def say(self, text: str) -> str:
        """Send a message and return what the assistant said to it, of all steps."""
        self.calls, self.rounds = [], []
        self.messages.append(HumanMessage(text, id=f"run-{next(self._runs)}"))
        route = self.route(text)
        self.agents = []
        if not route.needs_plan:
            return self._work(route.agent, {}, text)
        steps = self.plan(text).steps
        told: list[dict[str, str]] = []
        for number, step in enumerate(steps, start=1):
            shown = {**step.model_dump(), "number": number, "of": len(steps)}
            told.append({"title": step.title, "status": "completed", "result": ""})
            told[-1]["result"] = self._work(step.agent, {"step": shown, "earlier_results": told[:-1]}, step.instruction)
        return "\n".join(one["result"] for one in told)

    def route(self, text: str) -> RouteDecision:
        """Ask the model who takes a message."""
        last = [section("last_agent", self.agents[-1]), self._conversation()] if self.agents else []
        parts = ["Route.", self._place(ids_only=True), *last, section("language", _language(text))]
        messages = [SystemMessage("\n\n".join(parts)), HumanMessage(text)]
        answer = self.model.with_structured_output(RouteDecision).invoke(messages)
        assert isinstance(answer, RouteDecision)
        return answer

    def _conversation(self) -> str:
        said = [message for message in self.messages if not isinstance(message, ToolMessage) and message.text]
        return section("conversation", "\n".join(f"{message.type}: {message.text[:400]}" for message in said[-6:-1]))

    def plan(self, text: str) -> TaskPlan:
        """Ask the model for a plan."""
        system = SystemMessage("\n\n".join(["Plan.", self._place(ids_only=True), section("language", _language(text))]))
        answer = self.model.with_structured_output(TaskPlan).invoke([system, HumanMessage(text)])
        assert isinstance(answer, TaskPlan)
        return answer

    def _work(self, agent: str, sections: dict[str, Any], text: str) -> str:
        self.agents.append(agent)
        bound = self.model.bind_tools([schema(name) for name in sorted(TOOLS[agent])])  # pyright: ignore[reportArgumentType] - indexed by what the model said
        for _ in range(MAX_ROUNDS):
            answer = bound.invoke([SystemMessage(self._system(agent, sections, text)), *self.messages])
            self.messages.append(answer)
            if not answer.tool_calls:
                return answer.text
            self.rounds.append(len(answer.tool_calls))
            self.messages += [self._run(call) for call in answer.tool_calls]
        raise AssertionError("the model does not come to an end")

    def _run(self, call: Any) -> ToolMessage:
        name, args = call["name"], dict(call["args"])
        self.calls.append((name, args))
        verdict = self.verdict(name, args)
        if verdict == "reject":
            return result_message(call["id"], name, REJECTED, "rejected", refusal="rejected")
        try:
            text, data = self.drive.call(name, verdict if isinstance(verdict, dict) else args)
        except RefusedError as refused:
            code, message = refused.args
            return ToolMessage(f"{code}: {message}", tool_call_id=call["id"], name=name, status="error")
        return ToolMessage(f"{text}\n{compact(data)}", tool_call_id=call["id"], name=name)

    def _system(self, agent: str, sections: dict[str, Any], text: str) -> str:
        listing = [{key: item[key] for key in ("id", "kind", "name")} for item in self.drive.children(self.folder_id)]
        document = self.drive.texts[self.file_id][-1] if self.file_id else ""
        parts = [
            f"You are {agent}. `<document>` is the open document.",
            self._place(),
            section("document", document) if self.file_id and agent == "document_agent" else "",
            json_section("attachments", [self.drive.view(self.drive.find(one)) for one in self.attached])
            if self.attached
            else "",
            json_section("listing", listing) if agent != "document_agent" else "",
            *(json_section(tag, data) for tag, data in sections.items() if data),
            section("last_run", self.last_run) if self.last_run and agent == "drive_agent" else "",
            section("language", _language(text)),
        ]
        return "\n\n".join(filter(None, parts))

    def _place(self, *, ids_only: bool = False) -> str:
        def shown(key: str | None) -> dict[str, Any] | None:
            if key is None:
                return None
            item = self.drive.view(self.drive.items[key])
            return {"id": key} if ids_only else {name: item[name] for name in ("id", "name", "path")}

        return json_section("place", {"file": shown(self.file_id), "folder": shown(self.folder_id), "root_id": "root"})

    @property
    def called(self) -> list[str]:
        """The names of the tools that were called for the last message."""
        return [name for name, _ in self.calls]


def _language(text: str) -> str:
    return "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en"


def schema(name: str) -> dict[str, Any]:
    """Return a tool as it is bound by name only."""
    return {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
