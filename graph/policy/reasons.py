"""The reasons why a call runs, waits for the person or never runs: a code for programs, a sentence for the person."""

from collections.abc import Mapping
from typing import Final, Literal

from graph.language import Language

Code = Literal[
    "looks",
    "reads",
    "adds",
    "organises",
    "writes",
    "trashes",
    "replaces",
    "final",
    "revokes",
    "shares",
    "links",
    "previews",
    "undoes",
    "never",
    "unknown",
    "misdeclared",
    "outside",
    "outside_tainted",
    "outside_leaves",
    "outside_allowed",
    "question",
    "unclear",
    "gains_access",
    "not_mine",
    "outside_plan",
    "unattended",
    "tainted",
    "tainted_outward",
    "tainted_removal",
    "tainted_others",
    "memory",
    "tainted_memory",
    "in_your_words",
    "within_plan",
    "within_grant",
    "changed",
]

SENTENCES: Final[Mapping[Code, Mapping[Language, str]]] = {
    "looks": {"en": "Only looks things up.", "zh": "只查询，不改动。"},
    "reads": {"en": "Only reads.", "zh": "只读取，不改动。"},
    "adds": {
        "en": "This adds to your drive and changes nothing that is there.",
        "zh": "这只新增内容，不改动已有的内容。",
    },
    "organises": {"en": "This changes where things are or what they are called.", "zh": "这会改动内容的位置或名称。"},
    "writes": {"en": "This changes contents, or many things at once.", "zh": "这会改动文件内容，或一次改动很多项。"},
    "trashes": {"en": "This moves things to the trash.", "zh": "这会把内容移到回收站。"},
    "replaces": {
        "en": "This moves things to the trash to put others in their place.",
        "zh": "这会把原有内容移到回收站，由新的内容取代。",
    },
    "final": {"en": "This deletes for good and can't be taken back.", "zh": "这会永久删除，无法恢复。"},
    "revokes": {"en": "This takes away access.", "zh": "这会取消访问权限。"},
    "shares": {"en": "This changes who has access.", "zh": "这会改变谁有访问权限。"},
    "links": {"en": "Whoever has this address gets access.", "zh": "任何拿到地址的人都能访问。"},
    "previews": {"en": "Changes no file and no folder.", "zh": "不改动任何文件和文件夹。"},
    "undoes": {"en": "This takes back changes, or does them again.", "zh": "这会撤销或重做之前的改动。"},
    "memory": {
        "en": "This changes what is remembered of you for later conversations.",
        "zh": "这会改动以后对话中关于你的长期记忆。",
    },
    "tainted_memory": {
        "en": "This changes what is remembered for later, after content was read that is not from you.",
        "zh": "此前读取过不是出自你的内容，而这会改动长期记忆。",
    },
    "in_your_words": {"en": "You asked for this in your own words.", "zh": "这是你亲口要求的。"},
    "never": {"en": "The assistant never uses this tool.", "zh": "助手从不使用这个工具。"},
    "unknown": {"en": "This tool has no rule, so you decide.", "zh": "这个工具没有规则，由你决定。"},
    "misdeclared": {
        "en": "This tool should only read, but says of itself that it changes things, so you decide.",
        "zh": "这个工具本应只读取，却声明自己会改动内容，由你决定。",
    },
    "outside": {
        "en": "This calls a server outside of your drive, so you decide.",
        "zh": "这会调用云盘之外的服务器，由你决定。",
    },
    "outside_tainted": {
        "en": "This calls a server outside of your drive, after content was read in this conversation that is not from "
        "you.",
        "zh": "此前对话中读取过不是出自你的内容，而这会调用云盘之外的服务器。",
    },
    "outside_leaves": {
        "en": "This sends content of your drive to a server outside of it.",
        "zh": "这会把云盘中的内容发送到云盘之外的服务器。",
    },
    "outside_allowed": {
        "en": "You allowed this tool to run without asking.",
        "zh": "你已允许此工具无需询问即可运行。",
    },
    "question": {
        "en": "A server outside of your drive asks you something before it goes on.",
        "zh": "云盘之外的服务器需要你回答一个问题才能继续。",
    },
    "unclear": {
        "en": "It can't be told what this touches or who sees it there, so you decide.",
        "zh": "无法确定这会影响哪些内容、谁能看到，由你决定。",
    },
    "gains_access": {
        "en": "This puts things where other people can see them.",
        "zh": "这会把内容放到其他人能看到的地方。",
    },
    "not_mine": {"en": "This changes what belongs to somebody else.", "zh": "这会改动属于其他人的内容。"},
    "outside_plan": {
        "en": "This goes beyond what you agreed to for this plan.",
        "zh": "这超出了你为该计划同意的范围。",
    },
    "unattended": {
        "en": "Nobody is watching this run, and it has read content that is not from you.",
        "zh": "此次运行无人值守，并且读取过不是出自你的内容。",
    },
    "tainted": {
        "en": "Content that is not from you was read in this conversation, so changes are confirmed by you.",
        "zh": "此前对话中读取过不是出自你的内容，因此改动需要你确认。",
    },
    "tainted_outward": {
        "en": "This gives others access, after content was read in this conversation that is not from you.",
        "zh": "此前对话中读取过不是出自你的内容，而这会让其他人获得访问权限。",
    },
    "tainted_removal": {
        "en": "This removes things, after content was read in this conversation that is not from you.",
        "zh": "此前对话中读取过不是出自你的内容，而这会移除内容。",
    },
    "tainted_others": {
        "en": "Other people see what this changes, and content was read in this conversation that is not from you.",
        "zh": "此前对话中读取过不是出自你的内容，而其他人能看到这里的改动。",
    },
    "within_plan": {"en": "You agreed to this for the plan.", "zh": "你已为该计划同意此类操作。"},
    "within_grant": {"en": "You allowed this for a while.", "zh": "你已在一段时间内允许此类操作。"},
    "changed": {
        "en": "It has changed since you were asked; please look again.",
        "zh": "在询问你之后内容有了变化，请再看一次。",
    },
}


def sentence(code: Code, language: Language) -> str:
    """Return the reason in the person's language."""
    return SENTENCES[code][language]
