"""From a phrase to the items it stands for, with as few calls as it takes; asks when it is not clear."""

import re
from calendar import month_name
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from drive_server.kernel.text.characters import fold_case, fold_words
from graph.offline.conversation import Item, Result
from graph.offline.replay import StoppedError, UnresolvedError, request
from graph.offline.scripts.task import ROOT, Task
from graph.offline.understanding.grammar import STOP_WORDS, has_han, stem, table, word
from graph.offline.understanding.intent import PREVIOUS, SUFFIXES, Ref, number_in, read_ref
from graph.offline.wording import code, path_of, quoted

STEM, NO_MATCH, NEAR_ENOUGH = 1, 5, 0.6
SEARCHED, OF_A_SORT, PAGE, MAX_PAGES, MAX_QUERIES, OFFERED, MAX_OF_DRIVE = 20, 100, 30, 3, 4, 10, 700
ABSENT: Final = "not_found"
"""The drive's code for a missing item; any other one says nothing of that."""
_GENERIC: Final = frozenset(map(stem, ["file", "document", "doc", "note", "paper", "item", "text", "copy"]))
_NUMBERED: Final = re.compile(r"(?<![\w.-])\d{1,4}$")
_HAN_MONTHS: Final = word("months").pattern.split()
_SUFFIX: Final = re.compile(rf"(?<![a-z0-9])({'|'.join(SUFFIXES)})s?(?![a-z0-9])", re.IGNORECASE)
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:[-./年]?\d{1,2})?(?:[-./月]?\d{1,2})?")


def resolve_one(task: Task, ref: Ref | None, *, kind: str = "", loose: bool = False) -> Item:
    """Return the one item that is meant. Raises `UnresolvedError` with a question if there is none or several."""
    items = resolve(task, ref, kind=kind, loose=loose)
    if len(items) > 1:
        raise ambiguous(task, ref.text if ref else "", items)
    return items[0]


def resolve_folder(task: Task, ref: Ref | None) -> Item:
    """Return the folder that is meant."""
    item = resolve_one(task, ref, kind="folder")
    if item.get("kind", "folder") != "folder":
        raise task.unresolved("not_a_folder", name=task.name(item))
    return item


def resolve(task: Task, ref: Ref | None, *, kind: str = "", loose: bool = False) -> list[Item]:
    """Return the items that are meant, at least one: several only if several were meant."""
    if ref is None:
        raise task.unresolved("which_item")
    if ref.form == "which":
        return _by_fact(task, ref, kind)
    wanted = ref.kind or kind
    if ref.form in {"here", "open", "it", "them", "there"}:
        return _pointed_at(task, ref, wanted)
    if ref.form == "all":
        found = _of_sort(task, ref)
        return _without(task, found, ref.kept) if ref.kept else found
    if ref.form == "summary":
        return _summary(task)
    if ref.form != "path":
        return _by_name(task, ref, wanted, loose=loose)
    if ref.text == "/":
        return [ROOT]
    result = task.attempt("get_file_info", item_id=ref.text.rstrip("/"))
    if not result.worked and result.code != ABSENT:
        raise StoppedError("search_failed", "get_file_info", result)
    if not (result.worked and result.word("id")):
        raise task.unresolved("not_found", name=code(ref.text))
    return [result.data]


def _pointed_at(task: Task, ref: Ref, kind: str) -> list[Item]:
    """Return the items that only the conversation identifies: attached, made just now, talked about last, or open."""
    if ref.form in {"here", "there"}:
        folder = task.here if ref.form == "here" else task.conversation.last_folder()
        if folder is None:
            raise task.unresolved("which_item")
        return [folder]
    wanted = "file" if ref.form == "open" and not ref.text else kind
    steps = task.sections.earlier_results if ref.form == "open" else ()
    made = task.made or [item for step in steps for item in step.get("changed", ())]
    groups = (task.given, made[-1:] if ref.is_pronoun and ref.form != "them" else [], task.conversation.focus())
    opened, made, talked = ([one for one in items if not wanted or one.get("kind") == wanted] for items in groups)
    found = made or talked or (opened if kind != "folder" else [])
    if (task.sections.attachments and opened and not task.made) or (ref.form == "open" and opened and not made):
        found = opened
    if not found or (ref.form == "open" and not (opened or made) and len(talked) != 1):
        raise task.unresolved("no_document" if ref.form == "open" else "which_item")
    if len(found) > 1 and ref.form != "them":
        raise ambiguous(task, "", found)
    return found


FACTS: Final = (("newest", True), ("oldest", False), ("largest", True), ("smallest", False))


def _picked(items: Sequence[Item], phrase: str) -> list[Item]:
    """Return the one of several that a fact or its place tells: "the newest", "the second one"; empty if none does."""
    fact = next(((name, most) for name, most in FACTS if word(name).search(phrase)), None)
    place = number_in("ordinal", phrase)
    if items and fact and not (place and phrase.strip().endswith("one")):
        return [(max if fact[1] else min)(items, key=dated if fact[0] in {"newest", "oldest"} else size_of)]
    is_there = 0 < place <= len(items) or (items and place == PREVIOUS)
    return [items[place - 1] if place > 0 else items[-1]] if is_there else []


def _by_fact(task: Task, ref: Ref, kind: str) -> list[Item]:
    """Return the item of a list, of this folder or of the drive that its place, its date or its size tells."""
    items = [item for item in task.conversation.listed() if not kind or item.get("kind") == kind]
    if not items and task.here is not ROOT:
        items = [item for item in _contents(task, task.here) if item.get("kind") == (kind or "file")]
    if not items and any(word(name).search(ref.text) for name, _ in FACTS):
        items = every_file(task)
    found = _picked(items, ref.text)
    if not found:
        raise task.unresolved("which_item")
    return found


def every_file(task: Task, folder: Item | None = None, **filters: Any) -> list[Item]:
    """Return the files of the drive, or below a folder, the newest first; of a large drive the newest thousand."""
    below = {"folder_id": folder["id"]} if folder and folder.get("path") != "/" else {}
    args: dict[str, Any] = {"kind": "file", "limit": OF_A_SORT, **below, **filters}
    results = _pages(task, "search_files", "", MAX_OF_DRIVE // OF_A_SORT, args)
    return [file for result in results for file in result.files]


def _pages(task: Task, tool: str, name: str, most: int, args: dict[str, Any]) -> list[Result]:
    """Return the pages of a list, `most` of them at most."""
    pages = [task.call(tool, name, **args)]
    while pages[-1].cursor and len(pages) < most:
        pages.append(task.call(tool, name, **args, cursor=pages[-1].cursor))
    return pages


def size_of(item: Item) -> int:
    """Return the bytes of a file."""
    return int(item.get("size") or 0)


def _summary(task: Task) -> list[Item]:
    """Return the file that is called a summary: one of an earlier step, the one of just that name, or the newest."""
    called, made = word("summary_name"), task.conversation.changed(finished=True)
    found = [one for one in made if called.search(str(one.get("name")))][:1]
    found = found or _searched(task, ["summary", "总结"], "file", SEARCHED)
    found = [one for one in found if called.search(str(one["name"]))]
    if not found:
        raise task.unresolved("no_summary")
    return [max(found, key=lambda one: (bool(called.fullmatch(one["name"].rpartition(".")[0])), changed_at(one)))]


def changed_at(item: Item) -> str:
    """Return when the content of a file was changed."""
    return str(item.get("modified_at") or item.get("updated_at") or "")


def types_in(said: str) -> list[str] | None:
    """Return the sorts of files that a request names, as the drive's search takes them; None for any."""
    sorts = [name for name, pattern in table("sort") if pattern.search(said.lower())]
    return sorts or [SUFFIXES[one.lower()] for one in _SUFFIX.findall(said)] or None


def _of_sort(task: Task, ref: Ref) -> list[Item]:
    """Return each item of a folder, or of the drive, that is of the sort."""
    if ref.inside is not None or not (ref.text or ref.extension):
        if ref.inside is None and not (ref.kept and task.here is not ROOT):
            raise task.unresolved("which_item")
        folder = resolve_folder(task, ref.inside or Ref("here"))
        found = [item for item in _contents(task, folder) if fits(item, ref)]
        if not found:
            raise task.unresolved("folder_empty", folder=task.name(folder))
        return found
    known = next((pattern.pattern for _, pattern in table("sort") if pattern.fullmatch(ref.text.lower())), "")
    synonyms = [one.replace("s?", "") for one in known.split("|") if one and not re.fullmatch(one, ref.text.lower())]
    queries = [ref.extension] if ref.extension else [*queries_of(ref.text), *synonyms]
    found = _searched(task, queries, ref.kind, OF_A_SORT)
    fitting = [item for item in found if any(fits(item, replace(ref, text=one)) for one in (ref.text, *synonyms))]
    files = [item for item in fitting if ref.extension or item.get("kind") != "folder"]
    if not files and len(fitting) == 1:
        files = [item for item in _contents(task, fitting[0]) if item.get("kind") == "file"]
    if not files:
        raise task.unresolved("not_found", name=quoted(ref.text or ref.extension))
    return files


def _without(task: Task, items: Sequence[Item], kept: str) -> list[Item]:
    """Return the items but those that are kept. Raises `UnresolvedError` if it is not clear which these are."""
    ordered, ref = sorted(items, key=lambda item: str(item.get("name", ""))), read_ref(kept)
    bare = re.sub(r"\s+ones?$", "", ref.text if ref and ref.text else kept)
    number = _NUMBERED.search(bare)
    ends = rf"(?<!\d)0*{int(number[0])}\D*(?:\.\w+)?$" if number else "(?!)"
    stays = [item for item in items if re.search(ends, str(item.get("name", "")))]
    stays = stays or _picked(ordered, kept) or best_matches(items, bare)
    if not stays or len(stays) == len(items):
        raise task.unresolved("not_found", name=quoted(kept))
    return [item for item in items if item not in stays]


def _contents(task: Task, folder: Item) -> list[Item]:
    """Return all items of a folder; a folder of more than a few pages is too much for one request."""
    args = {"folder_id": folder["id"], "limit": PAGE}
    pages = _pages(task, "list_folder", str(folder.get("name", "")), MAX_PAGES, args)
    items, total = [item for page in pages for item in page.items], max(page.number("total") for page in pages)
    if len(items) < total:
        raise task.unresolved("too_many", folder=task.name(folder), count=total)
    return items


def fits(item: Item, ref: Ref) -> bool:
    """Say whether an item is of the sort that was named."""
    name = str(item.get("name", "")).lower()
    if ref.extension:
        return item.get("kind") == "file" and name.endswith(ref.extension)
    return not ref.text or covered(ref.text, str(item.get("path") or name)) == 1


def _by_name(task: Task, ref: Ref, kind: str, *, loose: bool) -> list[Item]:
    changed = [item for item in task.conversation.changed() if not item.get("trashed_at")]
    near = best_matches(changed, ref.text, kind=kind, most=STEM)
    if len(near) == 1:
        # Nothing else that changes with a change may decide: a replay has to go the same way again.
        return near
    text = ref.text.rpartition("/")[2] or ref.text
    found = _searched(task, [text], kind, SEARCHED)
    chosen = best_matches(found, text, kind=kind)
    if len(chosen) != 1:
        chosen = _described(task, text, kind, chosen, loose=loose)
    nearby = [item for item in chosen if item.get("parent_id") == task.here["id"]]
    chosen = nearby if len(nearby) == 1 else chosen
    if len(chosen) > 1 and not kind and word("several_meant").search(ref.text):
        return chosen
    if len(chosen) > 1:
        raise ambiguous(task, ref.text, chosen)
    return chosen or _several_names(task, ref, kind)


def _described(task: Task, phrase: str, kind: str, named: list[Item], *, loose: bool) -> list[Item]:
    """Return the items that the phrase describes, by names and paths: "the lentil soup recipe", "the last weekly"."""
    by_date = word("newest").search(phrase) or word("oldest").search(phrase)
    text, month = month_in(word("oldest").sub(" ", word("newest").sub(" ", phrase)).strip())
    queries = queries_of(text)
    if not (queries or month) or (named and not by_date):
        return named
    found = _searched(task, queries, kind, SEARCHED) if queries else every_file(task)
    of_month = [item for item in found if month and next(filter(None, dated(item)), "")[:7].endswith(month)]
    graded = [(covered(text, str(item.get("path") or item["name"])), item) for item in of_month or found]
    most = max((part for part, _ in graded), default=0.0)
    if most < (NEAR_ENOUGH if loose else 1):
        return []
    best = [item for part, item in graded if part == most]
    best = [item for item in best if item.get("kind") == "file"] or best
    if by_date:
        return _picked(best, phrase)
    own = [covered(text, str(item["name"])) for item in best]
    return [item for item, part in zip(best, own, strict=True) if part == max(own)]


def queries_of(text: str) -> list[str]:
    """Return the queries for a search of names: the words that matter, each alone."""
    return list(dict.fromkeys(one for one in _words(text) if len(one) > 1))[:MAX_QUERIES]


def _words(text: str) -> list[str]:
    parts: list[str] = []
    plain = word("generic").sub(" ", text)
    for run in re.findall(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+", (plain if plain.strip() else text).casefold()):
        if has_han(run):
            parts += [part for part in re.split("[的之和与及里我你这那]", run) if part]
        elif run not in STOP_WORDS and stem(run) not in _GENERIC:
            parts.append(stem(run))
    return parts


def covered(text: str, path: str) -> float:
    """Return how much of a description stands in a path, 0 to 1: English by stems, Chinese by characters."""
    words, held = _words(text), path.casefold()
    whole = sum(len(one) if has_han(one) else 2 for one in words)
    fits = sum(sum(char in held for char in one) if has_han(one) else 2 * _begins(one, held) for one in words)
    return fits / whole if whole else 0.0


def _begins(part: str, held: str) -> bool:
    """Say whether a word of the text begins like this: "flat" is in no "pdflatex"."""
    return re.search(rf"(?<![a-z]){re.escape(part)}", held) is not None


def dated(item: Item) -> tuple[str, str]:
    """Return when an item is of: the date in its name, and that of its content."""
    found = _DATE.search(str(item.get("name", "")))
    date = "-".join(part.zfill(2) for part in re.findall(r"\d+", found[0])) if found else ""
    return date, changed_at(item)


def month_in(text: str) -> tuple[str, str]:
    """Return a phrase without the month that it names, and the month as dates end with it: "2026-03", or "-03"."""
    match = word("month_named").search(text)
    if match is None:
        return text, ""
    name = (match["en"] or match["zh"]).lower()
    english = next((at for at, one in enumerate(month_name) if at and one.lower().startswith(name[:3])), 0)
    month = int(name) if name.isdigit() else english or _HAN_MONTHS.index(name) + 1
    rest = f"{text[: match.start()]} {text[match.end() :]}".strip()
    return rest, f"{match['year'] or match['zyear'] or ''}-{month:02}"


def _searched(task: Task, queries: Sequence[str], kind: str, limit: int) -> list[Item]:
    results = task.ask([request("search_files", query=query, kind=kind or None, limit=limit) for query in queries])
    return list({str(item["id"]): item for result in results for item in result.files}.values())


def _several_names(task: Task, ref: Ref, kind: str) -> list[Item]:
    parts = [part for part in word("list").split(ref.text) if part]
    found, noun = list[Item](), ""
    for part in parts if len(parts) > 1 else ():
        bare, month = month_in(part)
        named = part if bare or not month else f"{noun} {part}"
        noun = bare or noun
        found += _by_name(task, replace(ref, text=named), kind, loose=False)
    if found:
        return found
    raise task.unresolved("not_found", name=quoted(ref.text))


def ambiguous(task: Task, name: str, items: Sequence[Item]) -> UnresolvedError:
    """Return the question which of the items is meant, as a numbered list."""
    lines = "\n".join(f"{number}. {path_of(item)}" for number, item in enumerate(items[:OFFERED], start=1))
    return task.unresolved("ambiguous" if name else "ambiguous_it", name=quoted(name), list=lines)


def _grade(name: str, wanted: str) -> int:
    """Return how well a name fits: 0 is the same, 1 without its suffix, then less and less, `NO_MATCH` not at all."""
    every = bool(wanted) and all(_begins(one, name) for one in wanted.split())
    ways = (name == wanted, name.rpartition(".")[0] == wanted, name.startswith(wanted), _begins(wanted, name), every)
    return [*ways, True].index(True)


def best_matches(items: Iterable[Item], wanted: str, *, kind: str = "", most: int = NO_MATCH - 1) -> list[Item]:
    """Return the items whose names fit best, all of them equally well; `most` is the worst grade that counts.

    A name that does not fit as it is written may fit with other accents and apostrophes.
    """
    once = {str(item.get("id")): item for item in items}.values()
    of_kind = [item for item in once if not kind or item.get("kind", kind) == kind]
    for form in (fold_case, fold_words):
        graded = [(_grade(form(str(item.get("name", ""))), form(wanted)), item) for item in of_kind]
        best = min((how for how, _ in graded), default=NO_MATCH)
        if best <= most:
            return [item for how, item in graded if how == best]
    return []
