"""Tool calls that a model wrote into its text, as it was trained to, because its server has no parser for them.

Of Hermes and Qwen (`<tool_call>`), Qwen3-Coder and Llama (`<function=`, `<|python_tag|>`), Mistral (`[TOOL_CALLS]`),
DeepSeek (`<｜tool▁calls▁begin｜>`), LFM2 (`<|tool_call_start|>`), and the JSON of calls: alone, in a block of code, or
behind words, as small models write it; words behind it speak of a call. Only calls of offered tools count. The
forms are those that the parsers of vLLM (`vllm/entrypoints/openai/tool_parsers`) and llama.cpp (`common/chat-parser`)
read.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from uuid import uuid4

from langchain_core.messages import ToolCall
from langchain_core.messages.tool import tool_call

from graph.models.text_calls.forms import (
    is_broken_call,
    keyed_calls,
    may_become_named,
    named_calls,
    named_tags,
    read_called,
    read_forms,
    read_lenient,
)

OPENERS: Final = (
    "<tool_call>",
    "<tool_calls>",
    "<function=",
    "[TOOL_CALLS]",
    "<｜tool▁calls▁begin｜>",
    "<|tool_call|>",
    "<|tool_call_start|>",
    "<|python_tag|>",
    "<function_call>",
    "<function_calls>",
    "<functioncall>",
    "<tools>",
    "<invoke name=",
    "<tool_use>",
    "<minimax:tool_call>",
    "<｜DSML｜",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<start_function_call>",
    "<|tool_call>",
    "<|channel|>commentary to=",
    "✿FUNCTION✿",
)
PREFIXES: Final = re.compile(r"^(?:functions?|tools?|default_api)[.:]")
"""Some models write the name of a tool as a member of their template's name for the tools."""
NAME_KEYS: Final = ("name", "function", "tool", "tool_name", "action")
ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "action_input")
WRAPPERS: Final = ("tool_calls", "function_call", "tool_call")
_NAME_KEY: Final = "|".join(NAME_KEYS)
_KEY: Final = "|".join((*NAME_KEYS, *ARGUMENT_KEYS, *WRAPPERS, "type"))
_FIRST_SIGNS: Final = tuple({opener[0] for opener in OPENERS})
_MAX_OPENER: Final = max(map(len, OPENERS))
_OPENER: Final = re.compile("|".join(map(re.escape, OPENERS)))
_FOLLOWS: Final = re.compile(
    r"\s*(?:[\[{]|<function=|<｜|<invoke name=|<name>|<\|tool_call_begin|[\w.-]+(?:\[ARGS\]|\s*\n\s*<arg_key>|\s*[{(]))"
    r"|(?<=function=)[\w.:-]+>|(?<=invoke name=)\"|(?<=｜DSML｜)\w|(?<=<\|tool_call_begin\|>)|(?<=commentary to=)\w"
    r"|\s*call:|(?<=✿FUNCTION✿):"
)
"""Follows an opener where a call begins, and not where a sentence goes on."""
_MAY_FOLLOW: Final = re.compile(r"\s*(?:[\w.:-]*(?:\[\w*)?|<(?:[^<>\s]*|invoke n?a?m?e?=?)|[\w.-]+\s*\n\s*<?\w*)\Z")
"""May become that, of a text that has come so far."""
_ALONE: Final = re.compile(rf"(?:```[\w-]*\s*)?[\[{{]\s*(?:\{{\s*)?[\"'](?:{_KEY})[\"']")
_MAY_BE_ALONE: Final = re.compile(r"`{1,3}$|```[\w-]*\s*$|(?:```[\w-]*\s*)?[\[{]\s*(?:\{\s*)?(?:[\"']\w{0,13})?$")
_EMBEDDED: Final = re.compile(
    r"^[ \t]*(?:```[\w-]*[ \t]*\n?\s*)?"
    rf"(?=[\[{{]\s*(?:\{{\s*)?[\"'](?:{_KEY})[\"'])",
    re.MULTILINE,
)
"""Begins the JSON of a call, on a line of its own or in a block of code."""
_MAY_BE_EMBEDDED: Final = re.compile(
    r"^[ \t]*(?:`{1,3}|```[\w-]*\s*|(?:```[\w-]*\s*)?[\[{]\s*(?:\{\s*)?(?:[\"']\w{0,13})?)\Z", re.MULTILINE
)
_NAME: Final = re.compile(rf"[\"'](?:{_NAME_KEY})[\"']\s*:\s*[\"']([^\"']*)([\"']?)")
_ARGUMENTS: Final = re.compile(rf"[\"'](?:{'|'.join(ARGUMENT_KEYS)})[\"']\s*:\s*[\"'{{]")
NAME_WITHIN: Final = 400
"""Characters within which the JSON of a call names its tool."""
_CLOSED_BLOCK: Final = re.compile(r"\s*```[ \t]*(?=\n|\Z)")
_CLOSING_BRACE: Final = re.compile(r"\s*\}")
_FENCED: Final = re.compile(r"```[\w-]*\s*(.*?)\s*```", re.DOTALL)
_FUNCTION: Final = re.compile(r"<function=([^>\s]+)>\s*(.*?)\s*</function>", re.DOTALL)
_OPEN_FUNCTION: Final = re.compile(r"<function=([^>\s]+)>\s*(\{.*\})\s*\Z", re.DOTALL)
_PARAMETER: Final = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_DEEPSEEK: Final = re.compile(
    r"<｜tool▁call▁begin｜>(?:function)?(?:<｜tool▁sep｜>)?\s*([\w.:-]+)\s*(?:<｜tool▁sep｜>|\n)\s*"
    r"(?:```(?:json)?\s*)?(\{.*?\})\s*(?:```\s*)?<｜tool▁call▁end｜>",
    re.DOTALL,
)
_TAGS: Final = re.compile(
    r"</?tool_calls?>|</?tools>|</?function_?calls?>|\[/?TOOL_CALLS\]|<\|/?tool_call(?:_start|_end)?\|>"
    r"|<\|(?:python_tag|eom_id|eot_id)\|>|<｜tool▁calls▁(?:begin|end)｜>|<｜end▁of▁sentence｜>|</function>|</?tool_use>|</?minimax:tool_call>|</?｜DSML｜function_calls>"
)
_FENCE: Final = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_DECODER: Final = json.JSONDecoder()


def plain_name(name: str, offered: frozenset[str]) -> str:
    """Return the name of a call without prefixes that some models add, unless there is a tool of the longer name."""
    return name if name in offered else PREFIXES.sub("", name)


def begin_of_markup(text: str, start: int, offered: frozenset[str], *, is_last: bool = False) -> int | None:
    """Return where the markup of a call begins, or may begin at the end of the text as far as it has come."""
    if not offered:
        return None
    body = text.lstrip()
    if _ALONE.match(body) or (not is_last and _MAY_BE_ALONE.match(body)):
        return len(text) - len(body)
    follows = _FOLLOWS if is_last else _MAY_FOLLOW
    for found in _OPENER.finditer(text, start):
        begins = _FOLLOWS.match(text, found.end()) or follows.match(text, found.end())
        if (begins or text[start:].strip() == found[0]) and not is_in_code(text[: found.start()]):
            return found.start()
    begins = (
        _begin_of_embedded(text, start, offered, is_last=is_last),
        _begin_of_named(text, start, offered, is_last=is_last),
    )
    if found := [at for at in begins if at is not None]:
        return min(found)
    may_begin = not is_last and any(sign in text[-_MAX_OPENER:] for sign in _FIRST_SIGNS)
    partial = max(partial_end(text, opener) for opener in OPENERS) if may_begin else 0
    return len(text) - partial if partial and not is_in_code(text[: len(text) - partial]) else None


def _begin_of_embedded(text: str, start: int, offered: frozenset[str], *, is_last: bool) -> int | None:
    """Return where the JSON of a call begins behind words, or may begin at the end."""
    found = next((one for one in _EMBEDDED.finditer(text, start) if _may_name(text, one.end(), offered)), None)
    if found is None and not is_last:
        found = _MAY_BE_EMBEDDED.search(text, start)
    return found.start() if found and not is_in_code(text[: found.start()]) else None


def _begin_of_named(text: str, start: int, offered: frozenset[str], *, is_last: bool) -> int | None:
    """Return where a call begins by the name of its tool, at the beginning of a line, or may begin at the end."""
    begins_line = text[max(start - 1, 0) : start] in {"", "\n"} or "\n" in text[start:]
    if not begins_line and "<" not in text[start:]:
        return None  # each piece of each answer is looked at
    for pattern in (named_calls(offered), keyed_calls(offered), named_tags(offered)):
        found = next((one for one in pattern.finditer(text, start) if not is_in_code(text[: one.start()])), None)
        if found:
            return found.start()
    if is_last:
        return None
    at = may_become_named(text, start, offered)
    open_tag = next((one for one in re.finditer(r"<(\w+)>", text[start:]) if one[1] in offered), None)
    if open_tag and not is_in_code(text[: start + open_tag.start()]):
        at = start + open_tag.start() if at is None else min(at, start + open_tag.start())
    return at if at is not None and not is_in_code(text[:at]) else None


def _may_name(text: str, at: int, offered: frozenset[str]) -> bool:
    """Say whether JSON names an offered tool, as far as it has come."""
    name = _NAME.search(text, at, at + NAME_WITHIN)
    if name is None:
        return len(text) - at < NAME_WITHIN
    plain = plain_name(name[1], offered)
    return plain in offered if name[2] else any(one.startswith(plain) for one in offered)


def begins_call(text: str) -> bool:
    """Say whether a text begins with the markup of a call, that no sentence begins with."""
    return _OPENER.match(text.lstrip()) is not None


def tries_call(text: str, offered: frozenset[str]) -> bool:
    """Say whether a text is meant as a call, though none can be read: JSON that names a tool and has arguments."""
    if is_broken_call(text.lstrip(), offered):
        return True
    body = text.lstrip().removeprefix("```").removeprefix("json").lstrip()
    name = _NAME.search(body, 0, NAME_WITHIN) if body[:1] in {"{", "["} else None
    if name is None or (not _is_bare(text) and _has_words_behind(body)):
        return False
    return plain_name(name[1], offered) in offered or _ARGUMENTS.search(body) is not None


def _has_words_behind(text: str) -> bool:
    """Say whether words follow the JSON at the beginning of a text."""
    try:
        _, end = _decode(text)
    except (ValueError, RecursionError):
        return False
    closed = _CLOSED_BLOCK.match(text, end)
    return bool(text[closed.end() if closed else end :].strip())


def _is_bare(text: str) -> bool:
    """Say whether a text begins with JSON, in no block of code: nobody shows an example so."""
    return text.lstrip()[:1] in {"{", "["} and _OPENER.match(text.lstrip()) is None


def read_calls(text: str, offered: frozenset[str]) -> tuple[list[ToolCall], str] | None:
    """Return the calls of a text that begins with one, and the text beside them; None unless all can be made."""
    is_named = named_calls(offered).match(text) is not None
    if _OPENER.match(text) is None and (is_named or not _is_bare(text)) and (embedded := _embedded(text, offered)):
        return embedded
    fenced = _FENCED.fullmatch(text.strip())
    found, rest = _found_in(fenced[1] if fenced else text, offered)
    if _is_bare(text):
        rest = "" if rest.lstrip()[:1] in {"{", "[", "`"} else rest
    calls = [_call(name, args, offered) for name, args in found]
    made = [call for call in calls if call is not None]
    is_marked = _OPENER.match(text) is not None or _is_bare(text) or named_tags(offered).match(text) is not None
    if not made or len(made) < len(calls) or (rest.strip() and not is_marked):
        return None
    return _each_once(made) if _is_bare(text) else made, rest.strip()


def _each_once(calls: list[ToolCall]) -> list[ToolCall]:
    """Return the calls without repetitions: a model of half a billion parameters repeats one up to its limit."""
    return list({json.dumps([call["name"], call["args"]], sort_keys=True): call for call in calls}.values())


def _embedded(text: str, offered: frozenset[str]) -> tuple[list[ToolCall], str] | None:
    """Return the calls whose JSON stands behind words, and these; None if words follow the last one."""
    calls: list[ToolCall] = []
    rest, told = "", 0
    for begin, value_at, is_fenced in _beginnings(text, offered):
        if begin < told or (read := _read_at(text, value_at, offered)) is None:
            continue
        made = [_call(name, args, offered) for name, args in read[0]]
        if made and all(made):
            calls += [call for call in made if call]
            closed = _CLOSED_BLOCK.match(text, read[1]) if is_fenced else None
            rest, told = rest + text[told:begin], closed.end() if closed else read[1]
    return (_each_once(calls), rest.strip()) if calls and not text[told:].strip() else None


def _beginnings(text: str, offered: frozenset[str]) -> list[tuple[int, int, bool]]:
    """Return where calls may begin in a text, where their first character stands, and whether in a block of code."""
    found = [(one.start(), one.end(), "```" in one[0]) for one in _EMBEDDED.finditer(text)]
    found += [(one.start(), one.end(), "```" in one[0]) for one in keyed_calls(offered).finditer(text)]
    found += [(one.start(), one.start(), "```" in one[0]) for one in named_calls(offered).finditer(text)]
    return sorted(found)


def _read_at(text: str, at: int, offered: frozenset[str]) -> tuple[list[tuple[str, Any]], int] | None:
    """Return the calls that begin there, and their end."""
    if called := read_called(text, offered, at):
        return called
    try:
        value, end = _decode(text, at)
    except (ValueError, RecursionError):
        return None
    return [*_named(value, offered)], end


def _found_in(text: str, offered: frozenset[str]) -> tuple[list[tuple[str, Any]], str]:
    if "<｜tool" in text:
        found = [(one[1], _json(one[2])) for one in _DEEPSEEK.finditer(text)]
        return found, _TAGS.sub("", _DEEPSEEK.sub("", text))
    if "<function=" in text:
        form = _FUNCTION if "</function>" in text else _OPEN_FUNCTION
        found = [(one[1], _parameters(one[2])) for one in form.finditer(text)]
        return found, _TAGS.sub("", form.sub("", text))
    if forms := read_forms(text, offered):
        return forms[0], _TAGS.sub("", forms[1])
    return _values(_TAGS.sub(" ", text), offered)


def _values(text: str, offered: frozenset[str]) -> tuple[list[tuple[str, Any]], str]:
    """Return the calls in one JSON value after another, and the text from where there is no more."""
    found: list[tuple[str, Any]] = []
    while text := text.strip(" \t\r\n;,"):
        if called := read_called(text, offered):
            found += called[0]
            text = text[called[1] :]
            continue
        named = re.match(r"([\w.-]+)\s*(?:\[ARGS\])?\s*(?=\{)", text)
        try:
            value, end = _decode(text, named.end() if named else 0)
        except (ValueError, RecursionError):
            break
        found += [(named[1], value)] if named else list(_named(value, offered))
        text = text[end:]
    return found, text


def _named(value: Any, offered: frozenset[str]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _named(one, offered)
        return
    fields: Mapping[str, Any] = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    inner = next((fields[key] for key in ("function", *WRAPPERS) if isinstance(fields.get(key), dict | list)), None)
    yield from [_named_fields(fields, offered)] if inner is None else _named(inner, offered)


def _named_fields(fields: Mapping[str, Any], offered: frozenset[str]) -> tuple[str, Any]:
    """Return the name and the arguments: under keys of their own, side by side, or the arguments under the name."""
    if len(fields) == 1 and isinstance(only := next(iter(fields.values())), dict):
        return next(iter(fields)), only
    key = next((one for one in NAME_KEYS if one in fields), "")
    name = str(fields.get(key, ""))
    args = next((fields[one] for one in ARGUMENT_KEYS if one in fields), None)
    if args is None and plain_name(name, offered) in offered:
        args = {one: said for one, said in fields.items() if one not in {key, "type", "id"}} or None
    return name, _json(args) if isinstance(args, str) else args


def _parameters(text: str) -> Any:
    if text.startswith("{"):
        return _json(text)
    return {found[1]: found[2] for found in _PARAMETER.finditer(text)}


def _decode(text: str, at: int = 0) -> tuple[Any, int]:
    """Return the JSON value that begins there, and its end; raise ValueError without one.

    The template of Qwen2.5-Coder shows calls in doubled braces, and its models write them so.
    """
    try:
        return _DECODER.raw_decode(text, at)
    except ValueError:
        if text.startswith("{{", at):
            value, end = _DECODER.raw_decode(text, at + 1)
            closing = _CLOSING_BRACE.match(text, end)
            return value, closing.end() if closing else end
        if text[at : at + 1] not in {"{", "["} or (lenient := read_lenient(text, at)) is None:
            raise
    return lenient


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _call(name: str, args: Any, offered: frozenset[str]) -> ToolCall | None:
    name = plain_name(name, offered)
    if name not in offered or not isinstance(args, dict):
        return None
    return tool_call(name=name, args=cast("dict[str, Any]", args), id=f"call_{uuid4().hex}")


def partial_end(text: str, tag: str) -> int:
    """Return how many characters at the end of a text may begin the tag."""
    if text.find(tag[0], max(len(text) - len(tag) + 1, 0)) < 0:
        return 0  # each piece of each answer is looked at for a dozen tags
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)


def is_in_code(before: str) -> bool:
    """Say whether a place is in a block of code, or in code within a line, by the Markdown before it."""
    return len(_FENCE.findall(before)) % 2 == 1 or before.rpartition("\n")[2].count("`") % 2 == 1
