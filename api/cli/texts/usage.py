"""The sentences of wrong usage."""

from typing import Final

USAGE: Final[dict[str, tuple[str, str]]] = {
    "unsupported_time": ("{text} is no time from now, as 12h, 7d or 4w.", "{text} 不是时长，例如 12h、7d 或 4w。"),
    "wrong_usage": ("{prog}: error: {message}", "{prog}：错误：{message}"),
    "what_and_where": ("name what, and where to", "请给出来源和目标"),
    "no_port": ("{word!r} is not a port (0 to 65535)", "{word!r} 不是端口（0 到 65535）"),
    "no_count": ("{word!r} is not a number from 1 on", "{word!r} 不是从 1 开始的数字"),
    "no_number": ("{word!r} is not a number", "{word!r} 不是数字"),
    "first_number": ("the first one is 1", "编号从 1 开始"),
    "no_days": (
        "{word!r} is not a number of days (1 to {most})",
        "{word!r} 不是天数（1 到 {most}）",
    ),
    "no_words": ("it is empty", "内容为空"),
    "which_scopes": ("use one or more of {scopes}", "请使用 {scopes} 中的一项或多项"),
}

ARGPARSE: Final[dict[str, str]] = {
    "argument %(argument_name)s: %(message)s": "参数 %(argument_name)s：%(message)s",
    "the following arguments are required: %s": "缺少以下参数：%s",
    "one of the arguments %s is required": "需要以下参数之一：%s",
    "unrecognized arguments: %s": "无法识别的参数：%s",
    "expected one argument": "需要一个值",
    "expected at most one argument": "最多一个值",
    "expected at least one argument": "至少需要一个值",
    "expected %s argument": "需要 %s 个值",
    "expected %s arguments": "需要 %s 个值",
    "invalid choice: %(value)r (choose from %(choices)s)": "无效的选择：%(value)r（可选：%(choices)s）",
    "invalid %(type)s value: %(value)r": "无效的 %(type)s 值：%(value)r",
    "not allowed with argument %s": "不能与参数 %s 同时使用",
    "ignored explicit argument %r": "此选项不接受值 %r",
    "ambiguous option: %(option)s could match %(matches)s": "选项 %(option)s 不明确，可能是 %(matches)s",
    "unexpected option string: %s": "意外的选项：%s",
}
"""The messages of `argparse` to the person, with their fields in the same order."""
