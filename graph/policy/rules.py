"""Decide for each call: run it, ask the person, or never run it. Pure: no state, no clock, no drive."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from graph.language import Language
from graph.policy.bounds import Bounds, Touched, covers
from graph.policy.matrix import Rule, Verdict
from graph.policy.reasons import Code, sentence
from graph.policy.tools import OutsideServer, ToolFacts, Vouched
from graph.policy.vouching import names_it
from graph.state import Mode, Risk

PLAN: Final = "plan"
"""In `covered_by`: the plan's contract. Anything else is the id of a grant."""

LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The circumstances in which a call is judged.

    `tainted`: content that is not from the person was read in the thread, in this turn or before. `grants` are by their
    ids. `touched` are the items that the call touches, None before a dry run, or without an answer; `about` are the
    words of the fact that it is about, if any. `now` decides which bounds still hold. `said` is the person's newest
    message. `leaves`: the arguments have content of the drive in them.
    """

    language: Language
    mode: Mode = "attended"
    tainted: bool = False
    grants: Mapping[str, Bounds] = field(default_factory=dict[str, Bounds])
    contract: Bounds | None = None
    touched: Touched | None = None
    now: datetime = LONG_AGO
    said: str = ""
    about: str = ""
    leaves: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one call, its risk, and why: a code, and a sentence in the person's language.

    With `has_rule` the tool can make a dry run. `covered_by` is the id of a grant, or `PLAN`.
    """

    verdict: Verdict
    risk: Risk
    code: Code
    reason: str
    has_rule: bool
    covered_by: str | None = None


def judge(tool: ToolFacts, args: Mapping[str, Any], situation: Situation) -> Judgement:
    """Return the verdict on a call. The first that applies holds.

    A tool that is never used is denied, also with a grant. A tool without a rule asks, and counts as delete if
    it has no annotations. Then come the reasons that nothing lifts, then the cover of a contract or a grant, then the
    situation, and at last the tool's cell of the matrix.
    """
    if tool.server is not None:
        return _outside(tool.server, situation)
    rule = tool.rule_for(args)
    if rule is None:
        return _judgement("ask", _risk(tool), "unknown", situation, has_rule=False)
    if rule.verdict == "deny":
        return _judgement("deny", rule.risk, rule.cell.reason, situation)
    if tool.vouched is not None:
        return _personal(tool.vouched, args, rule, situation)
    if rule.kind in {"query", "read"} and tool.read_only is False:
        return _judgement("ask", _risk(tool), "misdeclared", situation, has_rule=False)
    if code := _beyond_cover(rule, situation):
        return _judgement("ask", rule.risk, code, situation)
    if covered_by := _covered_by(tool, args, rule, situation):
        code = "within_plan" if covered_by == PLAN else "within_grant"
        return _judgement("allow", rule.risk, code, situation, covered_by=covered_by)
    verdict, code = _uncovered(args, rule, situation)
    return _judgement(verdict, rule.risk, code, situation)


def _outside(server: OutsideServer, situation: Situation) -> Judgement:
    """Judge a call of the person's own server: it asks, unless they allowed the tool and only their own words go out.

    Nothing that its server says of the tool is believed: it counts as one that deletes.
    """
    code: Code = "outside"
    if situation.tainted:
        code = "outside_tainted"
    elif situation.leaves:
        code = "outside_leaves"
    elif server.auto_approved:
        code = "outside_allowed"
    verdict: Verdict = "allow" if code == "outside_allowed" else "ask"
    return _judgement(verdict, "delete", code, situation, has_rule=False)


def _personal(vouched: Vouched, args: Mapping[str, Any], rule: Rule, situation: Situation) -> Judgement:
    """Judge a change of the facts about the person: their own words are enough, where nothing else was read."""
    if situation.tainted:
        return _judgement("ask", rule.risk, "tainted_memory", situation)
    if vouched({"fact": situation.about, **args}, situation.said):
        return _judgement("allow", rule.risk, "in_your_words", situation)
    return _judgement("ask", rule.risk, "memory", situation)


def _beyond_cover(rule: Rule, situation: Situation) -> Code | None:
    """Return why the person is asked even inside a grant or a contract."""
    touched = situation.touched
    if situation.tainted and rule.kind == "network":
        return "tainted_outward"
    if situation.tainted and rule.kind == "removal":
        return "tainted_removal"
    if rule.kind != "write":
        return None
    if touched is None:
        return "unclear" if rule.level == "medium" or situation.tainted else None
    if situation.tainted and touched.others:
        return "tainted_others"
    return "gains_access" if touched.gains and rule.level != "low" else None


def _covered_by(tool: ToolFacts, args: Mapping[str, Any], rule: Rule, situation: Situation) -> str | None:
    if rule.cell.cover == "never" or (rule.cell.cover == "untainted" and situation.tainted):
        return None
    kind, touched = tool.action_for(args), situation.touched
    targets = touched.targets if touched else ()
    if situation.contract and covers(situation.contract, kind, targets, situation.now):
        return PLAN
    if rule.verdict == "allow" and not (situation.tainted or situation.contract):
        return None  # it runs anyway: nothing is used up
    found = (key for key, bounds in situation.grants.items() if covers(bounds, kind, targets, situation.now))
    return next(found, None)


def _uncovered(args: Mapping[str, Any], rule: Rule, situation: Situation) -> tuple[Verdict, Code]:
    cell, touched = rule.cell, situation.touched
    if rule.changes and cell.verdict == "allow":
        if rule.level == "medium" and touched and not touched.all_mine:
            return "ask", "not_mine"
        if situation.contract:
            return "ask", "outside_plan"
        if situation.tainted and situation.mode == "unattended":
            return "ask", "unattended"
    if situation.tainted and cell.tainted != cell.verdict:
        return ("allow", "in_your_words") if _is_named(args, rule, situation) else (cell.tainted, "tainted")
    return cell.verdict, cell.reason


def _is_named(args: Mapping[str, Any], rule: Rule, situation: Situation) -> bool:
    """Say whether the person's message has every name in a call: of the item it makes or moves, and of the target."""
    said, touched = situation.said, situation.touched
    if rule.cell.reason == "adds":
        return names_it(str(args.get("name", "")), said)
    if rule.cell.reason != "organises" or touched is None:
        return False
    names = [*touched.names, *([str(args["name"])] if args.get("name") else [])]
    return bool(touched.names) and all(names_it(name, said) for name in names)


def _judgement(
    verdict: Verdict,
    risk: Risk,
    code: Code,
    situation: Situation,
    *,
    has_rule: bool = True,
    covered_by: str | None = None,
) -> Judgement:
    return Judgement(verdict, risk, code, sentence(code, situation.language), has_rule, covered_by)


def _risk(tool: ToolFacts) -> Risk:
    if tool.read_only:
        return "read"
    return "write" if tool.destructive is False else "delete"
