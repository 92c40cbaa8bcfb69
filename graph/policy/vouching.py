"""Check that the person's own words ask for a call: a name that they gave, a fact to remember or to forget. Pure.

The words of a file can make a model call a tool, but they can't write the person's message. A quotation in the message
may be somebody else's words, so a fact inside one does not count.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final

SHORTEST: Final = 2
MAX_SUFFIX: Final = 5
MAX_QUOTED_NAME: Final = 100
_STOP_WORDS: Final = """\
a all an and any by document documents doc do file files folder folders for from here in is it me my new of on or please
read so that the then there they this to up what with you your 文件 文件夹 文档 这个 那个 一下 所有 全部"""
_COMMON: Final = frozenset(_STOP_WORDS.split())
"""Words that stand in any message: of a name they say nothing unless it is there with its suffix."""

_REMEMBER: Final = re.compile(
    r"\b(?:remember|note|memori[sz]e|keep in mind|bear in mind|don['’]?t forget|do not forget|never forget)\b"
    r"(?:\s+that\b)?"
    r"|(?:请|請)?(?:帮我|幫我)?(?:记住|記住|记下|記下|记一下|記一下|记着|记得|記得|别忘(?:记|了)?|別忘(?:記|了)?"
    r"|不要忘(?:记|了)?|勿忘|请记|請記)",
    re.IGNORECASE,
)
_FORGET: Final = re.compile(
    r"\b(?:forget|unlearn)\b|\b(?:delete|remove|erase|clear)\b.{0,40}\b(?:memor|fact|remember)"
    r"|忘掉|忘记|忘記|忘了|不要再记|別再記|别再记|(?:删除|刪除|清除|删掉).{0,12}(?:记忆|記憶|记住|记录)",
    re.IGNORECASE,
)
_NOT_FORGET: Final = re.compile(
    r"\b(?:don['’]?t|do not|never|not)\s+(?:\w+\s+){0,2}forget|(?:不要|别|別|不许|不許|勿|千万别)\s*忘", re.IGNORECASE
)
_COURTESY: Final = re.compile(
    r"(?:\b(?:hi|hello|hey|please|pls|thanks|thank you|ok|okay|and|also|then|now|so|can|could|would|will|you|always"
    r"|i want you to|for me|for later|from now on)\b"
    r"|请|請|麻烦|麻煩|谢谢|謝謝|你|您|好|帮我|幫我|帮忙|另外|还有|還有|也|要|一定|千万|千萬|并|並|然后|然後|[\W_])*",
    re.IGNORECASE,
)
_CLAUSE_ENDS: Final = re.compile(r"[,，]|\b(?:and|then)\b|并|並|然后|然後", re.IGNORECASE)
_DOUBT: Final = re.compile(
    r"\b(?:if|when|unless|whether|until|not|never|no|without|stop|says?|said|tells?|told|asks?|asked|wrote|writes?"
    r"|according|claims?)\b|n['’]t\b|如果|要是|假如|若|除非|当|當|说|說|写|寫|称|稱|不|别|別|勿|没|沒|无|無",
    re.IGNORECASE,
)
"""Words before "remember" that take it back, put it under a condition, or into somebody else's mouth."""
_QUOTED: Final = re.compile(
    r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|《[^》]*》|\"[^\"]*\"|(?<!\w)['‘][^'’\n]*['’](?!\w)"
    r"|```.*?(?:```|\Z)|`[^`\n]*`|^\s*>.*$",
    re.DOTALL | re.MULTILINE,
)
_SENTENCE: Final = re.compile(r"(?:[^.!?;。！？；\n]|\.(?=\S))+")
_SIGNS: Final = re.compile(r"[\W_]+")
_HAN: Final = "\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\U00020000-\U0003ffff"
_TOKEN: Final = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+")
_BEFORE_NAME: Final = re.compile(
    r"(?:把|将|將|给|給|到|进|進|叫|叫做|叫作|名为|名為|称为|命名为|命名為|改名|为|為|成|作|在|从|從|和|与|與|及|的|至|入|新建|创建|創建|建立|建|一个|一個"
    r"|文件夹|文件|文件夾|文檔|文档|目录|目錄|复制|複製|移动|移動|重命名|恢复|恢復|还原|還原|存|名字是|标题是)\Z"
)
_AFTER_NAME: Final = re.compile(
    r"(?:里|裡|中|下|内|內|这|這|的|和|与|與|及|到|进|進|移|放|复制|複製|改|重命名|文件|目录|目錄|文档|文檔|恢复|恢復|还原|還原|为|為|给|給|并|並|然后|然後|吧|了)"
)


def asks_to_remember_it(args: Mapping[str, Any], said: str) -> bool:
    """Say whether `said`, the newest message, asks to remember a call's fact: a whole clause of it, outside quotations.

    The clause is all that follows "remember that" up to the end of the sentence, so that no negation, condition or
    doubt of it is lost.
    """
    fact = _plain(str(args.get("fact", "")))
    return len(fact) >= SHORTEST and not args.get("file_id") and fact in set(_clauses(said))


def asks_to_forget_it(args: Mapping[str, Any], said: str) -> bool:
    """Say whether the person's newest message asks to forget the fact, all words of which stand in it."""
    fact, own = _tokens(str(args.get("fact", ""))), _QUOTED.sub(" ", said)
    stands = _holds(own, fact) or (bool(fact) and _is_han("".join(fact)) and "".join(fact) in _plain(own))
    return asks_to_forget(own) and stands


def names_it(name: str, said: str) -> bool:
    """Say whether a name stands in the person's message as a whole word or words, with its suffix or without.

    A long quotation is a text that they pasted, and names nothing.
    """
    own = _QUOTED.sub(lambda found: found.group() if len(found.group()) <= MAX_QUOTED_NAME else " ", said)
    stem, _, suffix = name.rpartition(".")
    is_suffix = bool(stem) and len(suffix) <= MAX_SUFFIX and suffix.isalnum()
    forms = [_tokens(name), *([_tokens(stem)] if is_suffix else [])]
    return any(
        len("".join(words)) >= SHORTEST and not _COMMON.issuperset(words) and _holds(own, words) for words in forms
    )


def asks_to_forget(said: str) -> bool:
    """Say whether a message asks to forget something."""
    return _FORGET.search(said) is not None and _NOT_FORGET.search(said) is None


def _clauses(said: str) -> Iterator[str]:
    """Yield the facts that a message asks to remember, plain: each to the end of its sentence."""
    quoted = [found.span() for found in _QUOTED.finditer(said)]
    for sentence in _SENTENCE.finditer(said):
        asked = _REMEMBER.search(sentence.group())
        if asked is None or not _is_own_wish(sentence.group()[: asked.start()]):
            continue
        begin, end = sentence.start() + asked.end(), sentence.end()
        while begin < end and not said[begin].isalnum() and not _opens(begin, quoted):
            begin += 1
        if not any(start <= begin and end <= stop for start, stop in quoted):
            yield _plain(said[begin:end])


def _is_own_wish(before: str) -> bool:
    """Say whether the words before "remember" in its sentence leave it the person's own plain wish."""
    clause = max((found.end() for found in _CLAUSE_ENDS.finditer(before)), default=0)
    return _COURTESY.fullmatch(before[clause:]) is not None and _DOUBT.search(before) is None


def _opens(position: int, quoted: list[tuple[int, int]]) -> bool:
    return any(start == position for start, _ in quoted)


def _holds(said: str, wanted: list[str]) -> bool:
    """Say whether the words stand in the message one after the other, each of them whole."""
    held = _tokens(said)
    if not wanted:
        return False
    starts = range(len(held) - len(wanted) + 1)
    if any(held[start : start + len(wanted)] == wanted for start in starts):
        return True
    name = "".join(wanted)
    return _is_han(name) and any(_is_word_in(name, run) for run in _runs(said))


def _is_word_in(name: str, run: str) -> bool:
    """Say whether a name stands in a run of Chinese, which has no blanks, between words that go beside names."""
    start = run.find(name)
    while start >= 0:
        before, after = run[:start], run[start + len(name) :]
        if (not before or _BEFORE_NAME.search(before)) and (not after or _AFTER_NAME.match(after)):
            return True
        start = run.find(name, start + 1)
    return False


def _is_han(text: str) -> bool:
    return re.fullmatch(rf"[{_HAN}]+", text) is not None


def _runs(said: str) -> Iterator[str]:
    return (token for token in _tokens(said) if _is_han(token))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def _plain(text: str) -> str:
    return _SIGNS.sub("", unicodedata.normalize("NFKC", text).casefold())
