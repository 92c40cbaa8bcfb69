"""The preview of a gated call, in the person's language, made from the effect of a dry run on the drive."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from drive_server.kernel.texts import Texts
from graph.drive.sentences import text
from graph.language import Language, join_names
from graph.policy.tools import OutsideServer
from graph.prompts import compact
from graph.servers.pins import escaped, label
from graph.state import Effect

MAX_ITEMS: Final = 50
MAX_LINES: Final = 1_000
MAX_DIFF: Final = 8_000
MAX_GIST: Final = 160
MAX_OF_ARGUMENT: Final = 60
"""Characters of an outside call's arguments in the line that names it: of all, and of one."""

TEXTS: Final = Texts.beside(__file__)


def preview_of(
    tool: str,
    args: Mapping[str, Any],
    effect: Mapping[str, Any] | None,
    language: Language,
    action: str | None = None,
) -> str:
    """Return the text that the person decides on; without an effect (no dry run) it is the call as it is."""
    if effect is None:
        return _call(tool, args, language)
    lines = [text(effect, "summary", language) or _call(tool, args, language), *_items(effect, language)]
    for key, field in (("gains", "gains_access"), ("loses", "loses_access")):
        if effect.get(field):
            who = text({**effect, field: ", ".join(effect[field])}, field, language)
            lines.append(TEXTS.say(f"preview.{key}", language, who=who))
    if effect.get("diff"):
        lines.append(_diff(str(effect["diff"]), language))
    lines += [_left(left, language) for left in effect.get("left") or ()]
    lines.append(_way_back(action, effect, language))
    return "\n".join(lines)


def outside_preview(server: OutsideServer, args: Mapping[str, Any], leaves: Sequence[str], language: Language) -> str:
    """Return the text for a call of a person's own server: the content that leaves the drive, and the host it goes to.

    The first line stands alone in the record of the decision, so it says which call this is.
    """
    place = {"server": label(server.server_name), "host": server.host}
    to = "preview.to_host" if server.host else "preview.to_program"
    title = server.display_name if server.display_name == server.tool else f"{server.display_name} ({server.tool})"
    sent = escaped(compact(args))
    shown = TEXTS.say("preview.call", language, tool=title, args=sent[:MAX_DIFF])
    lines = [TEXTS.say(to, language, **place, gist=_gist(server, args, language)), shown]
    if more := len(sent[MAX_DIFF:]):
        lines.append(TEXTS.say("preview.unshown", language, n=more))
    if leaves:
        names = join_names((f"`{label(name)}`" for name in leaves), language)
        lines.append(TEXTS.say("preview.carries", language, names=names))
    return "\n".join([*lines, TEXTS.say("preview.outside", language)])


def _gist(server: OutsideServer, args: Mapping[str, Any], language: Language) -> str:
    """Return the tool and the beginning of each argument, in a line."""
    shown = [f"{label(name)}: {_short(value)}" for name, value in args.items()]
    said = "; ".join(shown)
    whole = said if len(said) <= MAX_GIST else f"{said[: MAX_GIST - 1]}…"
    name = label(server.display_name)
    return TEXTS.say("preview.gist", language, tool=name, args=whole) if whole else name


def _short(value: Any) -> str:
    line = " ".join(escaped(value if isinstance(value, str) else compact(value)).split())
    cut = line if len(line) <= MAX_OF_ARGUMENT else f"{line[: MAX_OF_ARGUMENT - 1]}…"
    return f"“{cut}”" if isinstance(value, str) else cut


def first_line(preview: str) -> str:
    """Return the line of a preview that describes the call."""
    return preview.partition("\n")[0]


def effect_of(found: Mapping[str, Any] | None) -> Effect | None:
    """Return the effect that the state stores: without the difference, which is in the preview."""
    if found is None:
        return None
    items = [dict(item) for item in (found.get("items") or [])]
    return {
        "count": max(int(found.get("count") or 0), len(items)),
        "items": items[:MAX_ITEMS],
        "gains_access": [str(who) for who in found.get("gains_access") or ()],
        "loses_access": [str(who) for who in found.get("loses_access") or ()],
        "reversible": found.get("reversible") is not False,
    }


def _call(tool: str, args: Mapping[str, Any], language: Language) -> str:
    return TEXTS.say("preview.call", language, tool=tool, args=compact(args))


def _items(effect: Mapping[str, Any], language: Language) -> list[str]:
    items = effect.get("items") or []
    lines = [_item(item, language) for item in items[:MAX_LINES]]
    more = max(int(effect.get("count", 0)), len(items)) - len(lines)
    return [*lines, TEXTS.say("preview.more", language, n=more)] if lines and more > 0 else lines


def _item(item: Mapping[str, Any], language: Language) -> str:
    where = item.get("path") or item.get("name") or item.get("id", "")
    return f"- {where}: {text(item, 'what', language)}" if item.get("what") else f"- {where}"


def _left(left: Mapping[str, Any], language: Language) -> str:
    """Name an effect that an undo can't revert: the person who decides has to see it."""
    summary, why = text(left, "summary", language).rstrip(".。"), text(left, "reason", language)
    return TEXTS.say("preview.left", language, summary=summary, why=why)


def _diff(diff: str, language: Language) -> str:
    return diff if len(diff) <= MAX_DIFF else f"{diff[:MAX_DIFF]}\n{TEXTS.say('preview.cut', language)}"


def _way_back(action: str | None, effect: Mapping[str, Any], language: Language) -> str:
    if effect.get("reversible") is False:
        return TEXTS.say("preview.final", language)
    return TEXTS.say("preview.trash" if action == "trash" else "preview.reversible", language)
