"""The facts that the policy has of a tool. Pure.

The person's own drive publishes a record with each tool, and the assistant's own tools have theirs. A tool of another
server has none, even if that server publishes one: the person is asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from graph.policy.bounds import ACTION_KINDS, ActionKind
from graph.policy.matrix import MATRIX, Rule

Vouched = Callable[[Mapping[str, Any], str], bool]


@dataclass(frozen=True, slots=True)
class OutsideServer:
    """The person's own MCP server that a tool is of, and the server's own name of the tool.

    `host` is where the arguments go, empty for a program of this machine. `auto_approved`: the person let the tool run
    without asking, while nothing speaks against it. `agreed` is a digest of where the tool is and of how its server
    describes it.
    """

    server_id: str
    server_name: str
    tool: str
    display_name: str
    host: str = ""
    auto_approved: bool = False
    agreed: str = ""


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """One tool. Without a record it has no `rule`.

    `action` is the kind that a grant or a plan may allow. `writes` says whether it makes the whole text of a file or a
    part. With `has_preview` it changes nothing while its argument `preview` is true. `is_long`: it takes as long as
    there is to read. `read_only` and `destructive` are its server's annotations, None where it states nothing.
    `vouched` says for a tool about the person whether their newest message asks for the call about the `fact` in the
    arguments. `server`: it is no tool of the drive, and its server's hints are not believed.
    """

    name: str
    rule: Rule | None = None
    action: ActionKind | None = None
    writes: Literal["whole", "part"] | None = None
    has_preview: bool = False
    is_long: bool = False
    read_only: bool | None = None
    destructive: bool | None = None
    vouched: Vouched | None = None
    server: OutsideServer | None = None

    def rule_for(self, args: Mapping[str, Any]) -> Rule | None:
        """Return where a call stands, None for a tool without a record.

        An undo that is only previewed changes nothing; a change that puts another item into the trash to take its
        place removes; one that gives a file another content writes.
        """
        rule = self.rule
        if rule and self.has_preview and args.get("preview") is True:
            return Rule("execution", "low")
        if rule and rule.kind == "write" and args.get("on_conflict") == "replace":
            return Rule("write", "high") if self.writes else Rule("removal", "medium")
        return rule

    def action_for(self, args: Mapping[str, Any]) -> ActionKind | None:
        """Return the kind of action of a call; None for one that bounds never cover.

        A file that takes the place of another gives that one a new version: it writes. Any other replacement throws
        something away, which nobody has agreed to by agreeing to a move.
        """
        if args.get("on_conflict") != "replace":
            return self.action
        return "write" if self.writes else None


def read_facts(name: str, annotations: Mapping[str, Any], record: object = None) -> ToolFacts:
    """Return the facts of a tool. `record` is the one that the person's own drive publishes, never another server's."""
    stated = ToolFacts(name, read_only=annotations.get("readOnlyHint"), destructive=annotations.get("destructiveHint"))
    published = cast("Mapping[str, Any]", record) if isinstance(record, Mapping) else {}
    place: Any = (published.get("kind"), published.get("risk"))
    if place not in MATRIX:
        return stated
    action, rule = published.get("action"), Rule(*place)
    return replace(
        stated,
        rule=rule,
        action=action if action in ACTION_KINDS else None,
        writes=published.get("writes"),
        has_preview=bool(published.get("has_preview")),
        is_long=bool(published.get("can_be_task")) and rule.kind == "read",
    )
