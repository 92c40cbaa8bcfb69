"""A drive of a few items behind a scripted MCP server: enough to judge calls by, with etags that a test can move on."""

from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.types import CallToolResult, ToolAnnotations

from tests.fakes.mcp_server import ScriptedServer, SeenCall, answer, refusal

STRING = {"type": "string"}
ROLE = {"type": "string", "enum": ["viewer", "editor"], "default": "viewer"}
EDITS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"find": STRING, "replace": STRING},
        "required": ["find", "replace"],
        "additionalProperties": False,
    },
}


def schema(*required: str, **optional: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema of string properties, and others as given."""
    return {"type": "object", "properties": {**dict.fromkeys(required, STRING), **optional}, "required": list(required)}


@dataclass
class TinyDrive(ScriptedServer):
    """Items by id, each with a text and an etag. `done` lists (tool, idempotency key) of what was really changed."""

    texts: dict[str, str] = field(default_factory=lambda: {"root": "", "a": "30 days", "b": "other"})
    etags: dict[str, str] = field(default_factory=lambda: {"root": "r0", "a": "a0", "b": "b0"})
    done: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def __post_init__(self) -> None:
        reads = ToolAnnotations(readOnlyHint=True)
        self.add("get_file_info", self._info, schema("item_id"), reads)
        self.add("list_folder", self._list, schema(folder_id=STRING, limit={"type": "integer"}), reads)
        span = {"start": {"type": "integer"}, "end": {"type": "integer"}}
        self.add("read_file", self._read, schema("file_id", **span), reads)
        for name in ("search_files", "semantic_search_files"):
            self.add(name, self._search, schema("query", limit={"type": "integer"}), reads)
        self.add("create_folder", self._change, schema("name", folder_id=STRING))
        self.add("rename_item", self._change, schema("item_id", "name"))
        self.add("move_item", self._change, schema("item_id", "folder_id"))
        self.add("trash_item", self._change, schema("item_id"), ToolAnnotations(destructiveHint=True))
        self.add("share_item", self._change, schema("item_id", "email", role=ROLE))
        self.add("patch_file", self._change, schema("file_id", edits=EDITS))
        self.add("undo_changes", self._change, schema(run_id=STRING, preview={"type": "boolean"}))
        self.add("authenticate", self._change, schema("api_key"))

    def hold_create_folder(self) -> tuple[anyio.Event, anyio.Event]:
        """Make `create_folder` wait; return the event that it is called, and the one that lets it answer."""
        called, gate = anyio.Event(), anyio.Event()

        async def slow(_call: SeenCall) -> CallToolResult:
            called.set()
            await gate.wait()
            return answer("made")

        self.add("create_folder", slow, schema("name", folder_id=STRING))
        return called, gate

    def touch(self, item_id: str) -> None:
        """Let somebody else change the item."""
        self.etags[item_id] += "+"

    def touch_of(self, item_id: str) -> dict[str, Any]:
        """Return the item as an effect tells where it is: alone in the root, seen by nobody else."""
        where: dict[str, Any] = {"inside": ["root"], "was_inside": ["root"], "mine": True, "items": 1}
        return {**where, "id": item_id, "name": item_id, "path": f"/{item_id}", "others": False, "gains": False}

    def item(self, item_id: str) -> dict[str, Any]:
        """Return an item as the drive describes it."""
        kind = "folder" if item_id == "root" else "file"
        return {"id": item_id, "kind": kind, "name": item_id, "path": f"/{item_id}", "etag": self.etags[item_id]}

    def _info(self, call: SeenCall) -> CallToolResult:
        key = call.args["item_id"]
        return answer(f"{key} is here.", self.item(key)) if key in self.texts else refusal("not_found")

    def _list(self, _call: SeenCall) -> CallToolResult:
        items = [self.item(key) for key in self.texts if key != "root"]
        return answer(f"{len(items)} items.", {"items": items, "cursor": None})

    def _read(self, call: SeenCall) -> CallToolResult:
        key = call.args["file_id"]
        if key not in self.texts:
            return refusal("not_found")
        whole, start = self.texts[key], call.args.get("start", 0)
        text = whole[start : call.args.get("end")]
        span = {"start": start, "end": start + len(text), "total_characters": len(whole)}
        return answer(f"{key}:", {"file": self.item(key), "text": text, **span})

    def _search(self, call: SeenCall) -> CallToolResult:
        found = [key for key, text in self.texts.items() if call.args["query"] in (text, key)]
        hits = [{"file": self.item(key), "score": 1.0, "text": self.texts[key]} for key in found]
        return answer(f"{len(hits)} hits.", {"hits": hits, "cursor": None})

    def _change(self, call: SeenCall) -> CallToolResult:
        key = call.args.get("item_id") or call.args.get("file_id") or "root"
        if key not in self.texts:
            return refusal("not_found", f"There is no {key}.")
        if call.meta.get("drive-agent/dry-run"):
            effect = {"summary": f"{call.name} {key}", "count": 1, "items": [self.item(key)], "etag": self.etags[key]}
            effect["touches"] = [self.touch_of(key)]
            return answer("Would be done.", {}, effect=effect)
        wanted = call.meta.get("drive-agent/if-match")
        if wanted and wanted != self.etags[key]:
            return refusal("etag_mismatch", "It has changed.")
        return self._record(call, key)

    def _record(self, call: SeenCall, key: str) -> CallToolResult:
        entry = (call.name, call.meta["drive-agent/idempotency-key"])
        if entry in self.done:
            return answer(f"{call.name} {key} done.", self.item(key), change_id=self.done.index(entry), replayed=True)
        self.done.append(entry)
        self.etags[key] += "'"
        return answer(f"{call.name} {key} done.", self.item(key), change_id=len(self.done) - 1)
