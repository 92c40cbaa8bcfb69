"""Calls in a model's text that are no JSON objects of calls: Python's syntax, a name before its arguments, XML tags.

Of Gemma and Llama (`tool_code`, `name.call(...)`), LFM2 (a list of Python calls), ReAct (`Action:`, `Action Input:`),
Claude's and MiniMax's `<invoke>`, GLM (`<arg_key>`), Kimi, Gemma 4 (`call:name{...}`), gpt-oss (`to=functions.name`).
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

Found = list[tuple[str, Any]]
"""Names with their arguments."""

_LABEL: Final = r"(?:(?:Action|Tool|Function|Call|Function call|Tool call):[ \t]*)?"
_BEFORE_NAME: Final = rf"[ \t]*(?:```[\w-]*[ \t]*\n?[ \t]*)?{_LABEL}[`\[]?(?:print\()?(?:\w+\.)?"
_BEHIND_NAME: Final = r"`?(?:\.call)?[ \t]*(?:\(|\n?[ \t]*(?:(?:Action Input|Arguments|Parameters|Input):[ \t]*)?\{)"
_LABELS: Final = (
    *("Action:", "Tool:", "Function:", "Call:", "Function call:", "Tool call:"),
    *("print(", "default_api.", "print(default_api.", "functions.", "tools."),
)
_CONSTANTS: Final[Mapping[str, Any]] = {"true": True, "false": False, "null": None}
_COMMENT: Final = re.compile(r"(?<=[,{\s])//[^\n\"]*$", re.MULTILINE)
_MAX_MISSING: Final = 3
"""Closing braces that a model may have left out."""
_CLOSERS: Final[Mapping[str, str]] = {"(": ")", "[": "]", "{": "}"}

_INVOKE: Final = re.compile(r"<(?:｜DSML｜)?invoke name=\"([^\"]+)\">(.*?)</(?:｜DSML｜)?invoke>", re.DOTALL)
_NAMED_PARAMETER: Final = re.compile(
    r"<(?:｜DSML｜)?parameter name=\"([^\"]+)\"[^>]*>(.*?)</(?:｜DSML｜)?parameter>", re.DOTALL
)
_NAME_TAGS: Final = re.compile(r"<name>\s*([\w.:-]+)\s*</name>(.*?)</(?:arguments|parameters|input)>", re.DOTALL)
_BODY_TAG: Final = re.compile(r"\s*<(?:arguments|parameters|input)>\s*")
_GLM: Final = re.compile(r"([\w.:-]+)\s*((?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)+)", re.DOTALL)
_GLM_PAIR: Final = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_KIMI: Final = re.compile(
    r"<\|tool_call_begin\|>\s*([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(\{.*?\})\s*<\|tool_call_end\|>",
    re.DOTALL,
)
_GEMMA: Final = re.compile(r"call:([\w.-]+)\{(.*?)\}(?=<tool_call\|>|<end_function_call>)", re.DOTALL)
_GEMMA_PAIR: Final = re.compile(r"(\w+):(?:<\|\"\|>(.*?)<\|\"\|>|<escape>(.*?)<escape>|([^,{}<]+))", re.DOTALL)
_HARMONY: Final = re.compile(r"to=([\w.-]+).*?<\|message\|>\s*(\{.*\})\s*(?:<\|call\|>|\Z)", re.DOTALL)
_QWEN_1: Final = re.compile(r"✿FUNCTION✿:\s*([\w.-]+)\s*✿ARGS✿:\s*(\{.*?\})\s*(?:✿|\Z)", re.DOTALL)
_FORMS: Final = (_INVOKE, _NAME_TAGS, _GLM, _KIMI, _GEMMA, _HARMONY, _QWEN_1)


@lru_cache(maxsize=64)
def named_calls(offered: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a line that begins a call by the name of an offered tool."""
    return re.compile(rf"^{_BEFORE_NAME}({_names(offered)}){_BEHIND_NAME}", re.MULTILINE)


@lru_cache(maxsize=64)
def keyed_calls(offered: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of an object whose only key is the name of an offered tool."""
    return re.compile(rf"^[ \t]*(?:```[\w-]*\s*)?(?=\{{\s*[\"'](?:{_names(offered)})[\"']\s*:\s*\{{)", re.MULTILINE)


@lru_cache(maxsize=64)
def named_tags(offered: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a call in a tag of the tool's name."""
    return re.compile(rf"<({_names(offered)})>\s*((?:<(\w+)>.*?</\3>\s*)*)</\1>", re.DOTALL)


def _names(offered: frozenset[str]) -> str:
    return "|".join(map(re.escape, sorted(offered, key=len, reverse=True))) or "(?!)"


_LAST_LINE: Final = re.compile(
    rf"^[ \t]*(?:`{{1,2}}|```[\w-]*[ \t]*\n?[ \t]*)?{_LABEL}[`\[]?(?:print\()?(?:\w+\.)?(\w*)"
    r"(`?(?:\.c?a?l?l?)?[ \t]*\n?[ \t]*(?:[A-Z][\w ]{0,15}:?[ \t]*)?)\Z",
    re.MULTILINE,
)
_LAST_LABEL: Final = re.compile(r"^[ \t]*(?:```[\w-]*[ \t]*\n[ \t]*)?([A-Za-z][\w. (]*:?)[ \t]*\Z", re.MULTILINE)
_LAST_KEY: Final = re.compile(r"^[ \t]*(?:```[\w-]*[ \t]*\n[ \t]*)?\{\s*[\"'](\w*)[\"']?\s*:?\s*\Z", re.MULTILINE)
_LAST_TAG: Final = re.compile(r"<(\w*)\Z")


def may_become_named(text: str, start: int, offered: frozenset[str]) -> int | None:
    """Return where the end of a text may become a call by a name; None if it may not."""
    if tag := _LAST_TAG.search(text, start):
        return tag.start() if any(name.startswith(tag[1]) for name in offered) else None
    found = _LAST_LINE.search(text, start)
    if found and found[1]:
        is_begun = not found[2] and any(name.startswith(found[1]) for name in offered)
        if found[1] in offered or is_begun:
            return found.start()
    if (keyed := _LAST_KEY.search(text, start)) and any(name.startswith(keyed[1]) for name in offered):
        return keyed.start()
    label = _LAST_LABEL.search(text, start)
    return label.start() if label and any(one.startswith(label[1]) for one in _LABELS) else None


def read_called(text: str, offered: frozenset[str], at: int = 0) -> tuple[Found, int] | None:
    """Return the calls that begin there by a name, and where they end; None if they can't be read."""
    found = named_calls(offered).match(text, at)
    if found is None:
        return None
    begin = found.start(1)
    if text[found.start() : begin].rstrip().endswith("[") and found[0].endswith("("):
        begin = text.rindex("[", 0, begin)
    if found[0].endswith("{"):
        decoded = read_lenient(text, found.end() - 1)
        return ([(found[1], decoded[0])], _past(text, decoded[1], ")`")) if decoded else None
    opener = begin if text[begin] == "[" else found.end() - 1
    end = _balanced(text, opener)
    calls = _python_calls(text[begin:end]) if end else None
    return (calls, _past(text, end, ")`")) if calls and end else None


def is_broken_call(text: str, offered: frozenset[str]) -> bool:
    """Say whether a text is a call by a name with nothing behind it, or half of one."""
    found = named_calls(offered).match(text)
    end = _balanced(text, found.end() - 1) if found else None
    return found is not None and (end is None or not text[end:].strip("`)] \n"))


def _past(text: str, at: int, closers: str) -> int:
    while at < len(text) and text[at] in closers:
        at += 1
    return at


def read_forms(text: str, offered: frozenset[str]) -> tuple[Found, str] | None:
    """Return the calls of the first form that the text has, and the text beside them."""
    tags = named_tags(offered)
    if any(tags.finditer(text)):
        pairs = re.compile(r"<(\w+)>\s*(.*?)\s*</\1>", re.DOTALL)
        return [(one[1], dict(_pairs(pairs, one[2]))) for one in tags.finditer(text)], tags.sub("", text)
    for form in _FORMS:
        if found := [(one[1], _arguments(form, one[2])) for one in form.finditer(text)]:
            return found, "" if form in {_KIMI, _GEMMA, _HARMONY, _QWEN_1} else form.sub("", text)
    return None


def _arguments(form: re.Pattern[str], body: str) -> Any:
    if form is _INVOKE:
        return dict(_pairs(_NAMED_PARAMETER, body))
    if form is _GLM:
        return dict(_pairs(_GLM_PAIR, body))
    if form is _GEMMA:
        return {
            one[1]: _value(next(part for part in one.groups()[1:] if part is not None))
            for one in _GEMMA_PAIR.finditer(body)
        }
    decoded = read_lenient(_BODY_TAG.sub("", body, 1))
    return decoded[0] if decoded else None


def _pairs(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, Any]]:
    return ((one[1].strip(), _value(one[2].strip())) for one in pattern.finditer(text))


def _value(text: str) -> Any:
    """Return a list or an object as such, anything else as text: the tool's schema decides its type."""
    decoded = read_lenient(text) if text[:1] in {"[", "{"} else None
    return decoded[0] if decoded else text


def read_lenient(text: str, at: int = 0) -> tuple[Any, int] | None:
    """Return the object or list that begins there and its end, also as Python writes it, or without its last braces.

    Never one that was cut within its arguments: those have to be closed.
    """
    end = _balanced(text, at)
    whole = text[at:end] if end else _completed(text[at:])
    if not whole:
        return None
    try:
        return json.loads(whole), end or len(text)
    except (ValueError, RecursionError):
        pass
    try:
        return _evaluated(ast.parse(_COMMENT.sub("", whole), mode="eval").body), end or len(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _completed(text: str) -> str:
    text = text.rstrip().removesuffix("```").rstrip()
    open_ones = _open(text)
    return text + "".join(reversed(open_ones)) if text.endswith("}") and len(open_ones) <= _MAX_MISSING else ""


def _balanced(text: str, at: int) -> int | None:
    """Return where the brackets that open there are closed; None if they are not."""
    waiting: list[str] = []
    for place, closes in _brackets(text, at):
        if closes:
            waiting.append(closes)
        elif not waiting or text[place] != waiting.pop():
            return None
        if not waiting:
            return place + 1
    return None


def _open(text: str) -> list[str]:
    """Return the closing brackets that a text lacks; more than anybody forgets, if it is cut in a string."""
    waiting: list[str] = []
    for place, closes in _brackets(text, 0):
        if closes:
            waiting.append(closes)
        elif not waiting or text[place] != waiting.pop():
            return ["}"] * (_MAX_MISSING + 1)
    return waiting


_TOKEN: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|(?<=[\[({,:= ])'(?:[^'\\]|\\.)*'|[\[\](){}]", re.DOTALL)


def _brackets(text: str, at: int) -> Iterator[tuple[int, str]]:
    """Yield the places of brackets outside of strings, with the closing one that an opening one waits for."""
    for found in _TOKEN.finditer(text, at):
        if len(found[0]) == 1:
            yield found.start(), _CLOSERS.get(found[0], "")


def _python_calls(source: str) -> Found | None:
    try:
        parsed = ast.parse(source.replace("`", ""), mode="eval").body
        return [_python_call(one) for one in (parsed.elts if isinstance(parsed, ast.List) else [parsed])]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _python_call(node: ast.expr) -> tuple[str, Any]:
    """Return the name and the arguments of a call; raises ValueError unless they are named, or one dictionary."""
    if not isinstance(node, ast.Call):
        raise ValueError("no call")  # noqa: TRY004 - one kind of error for any source that is no call
    if node.args:
        (only,) = node.args
        return _name(node.func), _evaluated(only)
    return _name(node.func), {str(one.arg): _evaluated(one.value) for one in node.keywords}


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return _name(node.value) if node.attr == "call" else node.attr
    if isinstance(node, ast.Name):
        return node.id
    raise ValueError("no name")


def _evaluated(node: ast.expr) -> Any:
    """Return a literal, with the constants of JSON beside those of Python."""
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    if isinstance(node, ast.Dict):
        keys = [ast.literal_eval(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_evaluated, node.values), strict=True))
    if isinstance(node, ast.List | ast.Tuple):
        return [_evaluated(one) for one in node.elts]
    return ast.literal_eval(node)
