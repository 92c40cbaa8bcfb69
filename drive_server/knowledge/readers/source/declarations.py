"""Names that a line of source code declares, in the most common languages."""

import re

MAX_CHARACTERS = 300
"""Longer lines declare nothing: they were not written by a person, and patterns need a bound."""

_MODIFIER = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|open|sealed"
    r"|override|data|inline|virtual|unsafe|extern(?:\s+\"C\")?|const|local|partial|declare|suspend|readonly|value"
    r"|case|companion|implicit|lazy|typedef|constexpr|mutating)\s+)*"
)
_NAME = r"(?P<{}>[\w$.:?!]+)"
_KIND = (
    r"(?:class|interface|struct|enum(?:\s+class)?|trait|module|namespace|record|object|protocol|extension|union|defmodule"
    r"|actor|mixin)"
)
_TYPE = rf"{_MODIFIER}{_KIND}\s+{_NAME.format('type')}"
_IMPLEMENTATION = r"impl\b(?:<[^{}]*?>)?\s+(?:[^{}]*?\bfor\s+)?(?P<impl>[\w:]+)"
_GO_TYPE = r"type\s+(?P<go>\w+)\s*(?:\[[^\]]*\]\s*)?(?:struct|interface)\b"
_FUNCTION = (
    rf"{_MODIFIER}(?:def|defp|defmacro|func|function\*?|fun|fn|sub|proc|macro)\s+"
    rf"(?:\((?:\w+\s+)?\*?(?P<receiver>\w+)[^)]*\)\s*)?(?:<[^>]*>\s*)?{_NAME.format('function')}"
)
_ASSIGNED = (
    r"(?:export\s+)?(?:const|let|var)\s+(?P<assigned>[\w$]+)\s*(?::[^=]*)?=\s*(?:async\s*)?"
    r"(?:function\b|\([^()]*\)\s*(?::[^=]*)?=>|[\w$]+\s*=>)|(?P<arrow>[\w.]+)\s*(?:<-|=)\s*function\s*\("
)
_SQL = (
    r"create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:table|view|materialized\s+view|function|procedure|trigger)"
    r"\s+(?:if\s+not\s+exists\s+)?(?P<sql>[\w.\"`\[\]]+)"
)
_LISP = r"\((?:defn-?|defun|defmacro|define|defmethod|defprotocol|defrecord)\s+\(?(?P<lisp>[^\s()]+)"
_DECLARATION = re.compile("|".join((_TYPE, _IMPLEMENTATION, _GO_TYPE, _FUNCTION, _ASSIGNED, _LISP)))
_STATEMENT = re.compile(_SQL, re.IGNORECASE)
_METHOD = re.compile(
    r"(?P<before>(?:[\w<>\[\],.*&:?@~$]+\s+[*&]*)*)(?P<name>~?[\w$]+(?:<[^<>()]*>)?(?:::~?[\w$]+)*)\s*"
    r"\((?P<arguments>[^(){};\"'`]*(?:\([^(){};]*\)[^(){};]*)*)(?P<closed>\)?)(?P<after>[^;={}()]*)(?P<brace>\{?)[^;]{0,3}$"
)
_GENERIC = re.compile(r"<[^<>]*>")
_NO_METHOD = re.compile(
    r"(?:if|for|foreach|while|switch|catch|return|else|elif|do|try|with|new|throw|await|yield|using|lock|when|match|until"
    r"|unless|and|or|not|in|assert|print|raise|delete|case|goto|sizeof|import|from|select|where|function|super|this)\b"
)


def declared_name(line: str, following: str) -> str:
    """Return the name that a line declares, empty for none. Both lines are stripped."""
    if len(line) > MAX_CHARACTERS:
        return ""
    found = _DECLARATION.match(line) or _STATEMENT.match(line)
    if not found:
        return _method_name(line, following)
    names = found.groupdict()
    receiver = names.pop("receiver", None)
    name = next(filter(None, names.values())).rstrip(":.").strip('"`[]')
    return f"{receiver}.{name}" if receiver else name


def _method_name(line: str, following: str) -> str:
    """Return the name of a function of C, Java and the like, which only a brace after it announces."""
    found = _METHOD.match(line) if "(" in line else None
    if not found or _NO_METHOD.match(found["before"] or found["name"]) or _NO_METHOD.match(found["name"]):
        return ""
    is_block = found["closed"] and (found["brace"] or following.startswith("{"))
    goes_on = not found["closed"] and found["before"].strip() and not found["after"]
    return _GENERIC.sub("", found["name"]) if is_block or goes_on else ""
