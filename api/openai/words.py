"""The sentences that stand in an answer beside the assistant's own, in English and Chinese."""

from typing import Final

from graph.language import Language

WORDS: Final[dict[str, tuple[str, str]]] = {
    "waits": ("This waits for your decision:", "以下操作等待您的决定："),
    "decide": ("Decide here (sign-in needed): {address}", "请在此处决定（需要登录）：{address}"),
    "not_taken": (
        "This conversation still waits for a decision, and a message never makes it. Your message was not taken; send "
        "it again afterwards.",
        "此对话仍在等待决定，发送消息不会代替决定。您的消息未被接受，请在决定之后重新发送。",
    ),
    "paused": ("The plan is paused.", "计划已暂停。"),
    "cancelled": ("This was stopped.", "已停止。"),
    "sources": ("Sources:", "来源："),
    "version": ("version {version}", "版本 {version}"),
    "call.done": ("{name}: done", "{name}：完成"),
    "call.error": ("{name}: failed", "{name}：失败"),
    "call.cancelled": ("{name}: cancelled", "{name}：已取消"),
    "call.rejected": ("{name}: not allowed", "{name}：未获允许"),
    "call.begun": ("{name} …", "{name} …"),
}


def say(code: str, language: Language, **facts: str) -> str:
    """Return a sentence in the language, with the facts in it."""
    return WORDS[code][language == "zh"].format(**facts)
