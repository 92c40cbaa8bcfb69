"""The intents of a message, each an action with its arguments. The verbs are the router's.

A change is only an intent where a clause begins with its verb (or, in Chinese, names an object for it), and nothing in
the message puts it in doubt. Anything else is no intent.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from graph.offline.understanding.arguments import FACTS, POINTING, fill, role_in
from graph.offline.understanding.clauses import MARK, Clause, Message, spoken_of
from graph.offline.understanding.grammar import has_han, named_in, ruled, table, terms, word
from graph.offline.understanding.intent import CHANGING, NAMING, VAGUE, Intent, Ref, read_ref
from graph.offline.understanding.meaning import meaning_of
from graph.routing.cues import ABOUT, ELSEWHERE, TAKEN_BACK, TERMS
from graph.routing.intent_table import VERBS
from graph.routing.wording import is_negated

MAX_READ: Final = 4_000
SHORTEST, SHORTEST_HAN = 12, 4
"""Characters of a mere name: its meaning tells nothing."""
OPEN: Final = frozenset({"ask", "lookup", "find", "cannot", "explain", "list_changes"})
"""Actions of rules that say little: the meaning of the message may say more."""
MEANT: Final = {
    one: one
    for one in ("list", "summarise", "newest", "oldest", "largest", "smallest", "compare", "count", "help", "thanks")
} | {"undo": "undo_meant", "cannot": "cannot"}
"""The actions that the meaning of a message may choose, none of which changes anything."""
_BATCHES: Final = table("batch")
_LOOKUPS: Final = table("lookup")
_TALK: Final = table("talk")
NAMED: Final = frozenset({"create_folder", "create_file", "save_summary", "copy", "rename"})
WHOLE: Final = frozenset({"list_trash", "whoami", "list_changes", "count", "shared_out", "list_shared_with_me"})
"""Lookups after which "it" is none of the items."""
Said = Sequence[tuple[Clause, Intent | None]]
"""The clauses of a message, each with its request."""
_ROLES: Final = VAGUE | {"set_role", "share"}
_PRONOUN: Final = re.compile(r"\b(?:it|them|that|this|those|these|anything|everything)\b|[它这那]")
LIMITED: Final = frozenset({"create_file", "add", "replace", "leave", "link"})
"""Changes whose clause may hold any words, or a time for which they hold."""


def memory_intent(text: str) -> Intent | None:
    """Return the request of a message to the long-term memory: remember, forget or list; None if there is none."""
    said = " ".join(text.split())
    for name, pattern in table("memory"):
        match = pattern.match(said)
        fact = next(filter(None, match.groups()), "").strip().rstrip(".。!！") if match else ""
        if match and not word("no_fact").match(fact):
            return Intent(name, text, content=fact)
    return None


@lru_cache(maxsize=256)
def understand(text: str, *, file_open: bool = False) -> tuple[Intent, ...]:
    """Return the requests of a message, in order; empty if they are not clear.

    Rules read requests for changes with their arguments. If they find none, or only a question, the meaning of the
    whole message decides.
    """
    found = _by_rules(text, file_open=file_open)
    actions = {intent.action for intent in found}
    if actions & CHANGING and word("plain_question").search(text.strip()) and not word("polite").search(text):
        return (Intent("ask", text, query=text),)
    return found if actions - OPEN else _by_meaning(text, found, file_open=file_open)


def _by_meaning(text: str, found: tuple[Intent, ...], *, file_open: bool) -> tuple[Intent, ...]:
    rules = [one.action for one in found]
    if rules == ["lookup"] and len(text) <= (SHORTEST if text.isascii() else SHORTEST_HAN):
        return found
    meaning = meaning_of(text)
    action, asks = meaning.action, Intent("ask", text, query=text)
    spoken = rules == ["explain"] and word("plain_question").search(text.strip()) is not None
    if rules != ["list_changes"] and action == "ask" and meaning.is_sure and (spoken or not found):
        return (asks,)
    points = action in FACTS and _PRONOUN.search(text.lower())
    plain = action in MEANT and meaning.is_plain and not points and not (found and action == "cannot")
    if not plain or (rules == ["list_changes"] and action != "compare") or (action == "count" and file_open):
        return found or ((asks,) if action == "count" and file_open else ())
    target = {"list": Ref("here"), "summarise": Ref("it")}.get(action)
    return (Intent(MEANT[action], text, target=target, query=text),)


def batch_intent(message: Message) -> Intent | None:
    """Return the request of a message for many items: `names` holds the pattern of names or folders, or None."""
    text = message.text.strip(" .!。！")
    for action, shape in _BATCHES:
        match = shape.fullmatch(text)
        if match:
            slots = {key.rstrip("234"): message.restored(value) for key, value in match.groupdict().items() if value}
            target = read_ref(_named(_named(slots.pop("target"))))
            slots = {key: value.strip(" “”\"'") for key, value in slots.items()}
            edits = ((slots["find"], slots["new"]),) if "find" in slots else ()
            return Intent(action, text, target=target, names=_pattern(slots), edits=edits)
    return None


def _named(target: str) -> str:
    return word("in_batch").sub("", word("of_names").sub("", target.strip())).strip()


def _pattern(slots: dict[str, str]) -> tuple[str, ...]:
    if by := slots.get("by", ""):
        return (next(pattern for pattern, said in table("by") if said.search(by)),)
    prefix, suffix = slots.get("prefix", ""), slots.get("suffix", "")
    blank = " " if prefix[-1:].isalnum() and not has_han(prefix) else ""
    return (f"{prefix}{blank}{{name}}{suffix}",) if prefix or suffix else ()


def _all_but(message: Message, kept: str, *, file_open: bool) -> tuple[Intent, ...]:
    """Return a request for all items of a sort but some; none if it is no such one."""
    rest = word("all_but").sub("", message.text)
    found = _by_rules(message.quoted(rest), file_open=file_open) if rest.strip() else ()
    one = found[0] if len(found) == 1 and found[0].action in {"delete", "move", "copy"} else Intent("")
    ref, said = one.target or Ref(""), message.text
    if ref.form == "all" or (ref.form == "name" and (ref.text.endswith("s") or word("all_of_zh").search(said))):
        several = replace(ref, form="all", kept=message.restored(kept))
        return (replace(one, said=message.restored(said), target=several),)
    return () if {intent.action for intent in found} & CHANGING else found


def _whole(message: Message, text: str, *, file_open: bool) -> tuple[Intent, ...] | None:
    """Return the requests of a message that is read as a whole; None for one that is read clause by clause."""
    talk = next((kind for kind, pattern in _TALK if pattern.fullmatch(message.text.strip(" !?.。！？~,，"))), "")
    batch = batch_intent(message)
    if talk or batch:
        said = message.prepared
        doubtful = batch and (is_negated(said) or _is_supposed(said, ()) or word("plain_question").search(said))
        return (batch if batch and not doubtful else Intent(talk or "explain", text),)
    kept = named_in("all_but", message.text)
    return _all_but(message, kept, file_open=file_open) if kept else None


def _by_rules(text: str, *, file_open: bool) -> tuple[Intent, ...]:
    if len(text) > MAX_READ or not text.strip() or re.search(MARK, text):
        return ()
    message = Message(text)
    whole = _whole(message, text, file_open=file_open)
    if whole is not None:
        return whole
    said = [(clause, _intent(message, clause, file_open=file_open)) for clause in message.clauses()]
    if _only_spoken_of(message, said):
        return (Intent("explain", text, query=text),)
    found = [] if _is_unclear(message, said) else _joined(message, said, file_open=file_open)
    actions = {intent.action for intent in found}
    if "unclear" in actions or not found:
        forbids = not actions and said and all(clause.negated for clause, _ in said)
        return (Intent("decline", text),) if forbids and not word("no_more").search(message.prepared) else ()
    if "cannot" in actions and actions & CHANGING:
        return (next(intent for intent in found if intent.action == "cannot"),)
    meant = [intent for intent in found if intent.action not in {"ask", "lookup"}] or found
    # A file's bare name beside a question says where to look: "Which department is Bob in, in staff.csv?"
    asks = [intent for intent in meant if intent.action == "ask"]
    return (replace(asks[0], query=message.restored(message.text)),) if asks else tuple(meant)


def _is_unclear(message: Message, said: Said) -> bool:
    """Say whether a change is named in a way that was not understood, is limited, or points to no single thing."""
    changes = {intent.action for _, intent in said if intent} & CHANGING
    limited = changes - LIMITED and word("limits").search(message.prepared)
    lost = (clause.plain for clause, intent in said if not (intent or clause.negated))
    unclear = changes and any(plain[:1] in {"把", "将"} or plain.split(" ", 1)[0] in VERBS for plain in lost)
    forbids = changes and any(clause.negated and not role_in(clause.plain) for clause, _ in said)
    listed = any(intent and intent.action in WHOLE for _, intent in said)
    points = any(intent and intent.action in POINTING and _is_pointing(intent) for _, intent in said)
    return bool(limited or unclear or forbids or (listed and points))


def _is_pointing(intent: Intent) -> bool:
    ref = intent.target.inside or intent.target if intent.target else None
    return ref is None or ref.is_pronoun


def _joined(message: Message, said: Said, *, file_open: bool) -> list[Intent]:
    """Return the intents, each with the additions of later clauses: "share it with Bob, as editor"."""
    found: list[tuple[Clause, Intent]] = []
    for clause, intent in (one for one in said if not one[0].negated):
        before, last = found[-1] if found else (clause, Intent(""))
        action = intent.action if intent else "lookup"
        name = named_in("naming", clause.said) if last.action in NAMED and action in VAGUE else ""
        if name:
            found[-1] = before, replace(last, names=(message.restored(name).strip(" .。"),))
        elif _adds(last, clause, action):
            whole = before._replace(said=f"{before.said}, {clause.said}", plain=f"{before.plain}, {clause.plain}")
            found[-1] = whole, fill(message, last.action, whole, file_open=file_open)
        elif intent and last.action == "find" and intent.action in {"summarise", "read"} and _is_pointing(intent):
            target, whole = Ref("name", text=last.query), f"{last.said}, {intent.said}"
            found[-1] = clause, replace(intent, target=target, said=whole)
        elif intent:
            found.append((clause, Intent("unclear") if _leaves_open(clause, last, intent) else intent))
    return [intent for _, intent in found]


def _adds(last: Intent, clause: Clause, action: str) -> bool:
    """Say whether a clause only goes on with the request before: more names, a role, the end of a link."""
    if last.action in {"share", "link"} and (action in _ROLES or TERMS.fullmatch(clause.plain)):
        ends = last.action == "link" and word("link_terms").search(clause.said) is not None
        return ends or (role_in(clause.plain) != "" and "MAIL" not in clause.plain)
    named = last.action == "create_folder" or (last.target is not None and last.target.form == "name")
    listed = named and last.action in {"create_folder", "delete", "restore"}
    return listed and action == "lookup" and not word("aside").match(clause.plain)


def _leaves_open(clause: Clause, last: Intent, intent: Intent) -> bool:
    """Say whether the meaning of a clause after the last one is unclear: words beside a change, or which of two."""
    if last.action == "copy" and intent.action in {"delete", "move"} and _is_pointing(intent):
        return True
    unknown = intent.action == "lookup" and (last.action in CHANGING or clause.plain[:1] in {"把", "将"})
    return unknown and not word("aside").match(clause.plain)


def _only_spoken_of(message: Message, said: Said) -> bool:
    """Say whether a change is only talked about, taken back, supposed or reported."""
    changes = {intent.action for _, intent in said if intent} & CHANGING
    supposed = _is_supposed(message.prepared, [intent for _, intent in said if intent])
    depends = any(word("condition").match(clause.plain) for clause, _ in said)
    if changes:
        return depends or bool(supposed and changes - NAMING) or bool(TAKEN_BACK.search(message.text.lower()))
    named = [intent for clause, intent in said if not clause.negated and spoken_of(clause.plain)]
    asked = {"ask", "lookup"} if supposed else {"ask"}
    others = [clause.plain for clause, intent in said if intent and intent.action == "ask" and intent not in named]
    besides = any(not word("supposed").search(plain) for plain in others)
    return any(intent is None or intent.action in asked for intent in named) and (depends or not besides)


def _is_supposed(text: str, intents: Sequence[Intent]) -> bool:
    """Say whether words of a message suppose or report; a name may sound so: "the minutes from May"."""
    if any(intent.action == "link" for intent in intents):
        # How long a link holds is said in the words of a supposition: "until tomorrow".
        text = word("expiry").sub(" ", text)
    if word("depends").search(text):
        return True
    refs = (ref for intent in intents if intent.action in CHANGING for ref in (intent.target, intent.destination))
    for ref in refs:
        text = text.replace(ref.text.lower(), " ") if ref and ref.text else text
    return word("supposed").search(text) is not None


def _intent(message: Message, clause: Clause, *, file_open: bool) -> Intent | None:
    if clause.negated or not clause.plain or word("tells").search(clause.plain):
        return None
    looked_up = next((action for action, pattern in _LOOKUPS if pattern.search(clause.plain)), "")
    action = looked_up or _ruled(clause, file_open=file_open) or _otherwise(clause)
    intent = fill(message, action, clause, file_open=file_open) if action else None
    if intent and intent.action in CHANGING and _is_beyond(clause, intent):
        return Intent("cannot", intent.said)
    named = intent.target if intent and intent.action in CHANGING else None
    if intent and named and named.form == "name" and word("anything").fullmatch(named.text):
        return Intent("explain", intent.said)
    return intent


def _is_beyond(clause: Clause, intent: Intent) -> bool:
    """Say whether a change is of things that no drive holds, or gives many things one name."""
    if intent.action == "rename":
        return intent.target is not None and intent.target.form in {"all", "them"}
    return intent.action not in NAMING and not ABOUT.search(clause.plain) and ELSEWHERE.search(clause.plain) is not None


def _ruled(clause: Clause, *, file_open: bool) -> str:
    row = clause.row.action if clause.row else "none"
    forms = {"file": file_open, "good": clause.for_good}
    action = ruled([*(f"{row}+{form}" for form, holds in forms.items() if holds), row], clause.plain)
    return row if action == "=" else action


def _otherwise(clause: Clause) -> str:
    plain = clause.plain
    short = len(plain.split()) <= 5 if plain.isascii() else len(plain) <= 12
    tells = re.search(r"^(?:i|we|he|she|they|it|you)\b|[我你他她](?!的)|[了吧]$|^(?:把|将)", plain)
    has_verb = clause.row is not None or any(one in VERBS for one in plain.split()[:3])
    return "lookup" if short and not tells and not has_verb and terms(plain) else ""
