"""A linter of requests: what the chat templates of common families of models refuse, by the rules in them.

Each rule is stated as the family's own `chat_template.jinja` raises it (Hugging Face, "chat templates").
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

Rule = Callable[[Sequence[BaseMessage]], Iterator[str]]


def _role(message: BaseMessage) -> str:
    if isinstance(message, SystemMessage):
        return "system"
    if isinstance(message, ToolMessage):
        return "tool"
    if isinstance(message, HumanMessage):
        return "user"
    assert isinstance(message, AIMessage)
    return "calls" if message.tool_calls else "assistant"


def system_first(messages: Sequence[BaseMessage]) -> Iterator[str]:
    """The system's message is the first one, or there is none."""
    if any(_role(message) == "system" for message in messages[1:]):
        yield "a message of the system is not the first one"


def alternates(messages: Sequence[BaseMessage]) -> Iterator[str]:
    """ "conversation roles must alternate user/assistant/user/assistant/...": calls and their results don't count."""
    roles = [role for message in messages if (role := _role(message)) in {"user", "assistant"}]
    if any(role != ("user", "assistant")[at % 2] for at, role in enumerate(roles)):
        yield f"roles do not alternate: {roles}"


def ends_with_the_user(messages: Sequence[BaseMessage]) -> Iterator[str]:
    """ "Expected last role User or Tool": an assistant's last message would be continued."""
    if _role(messages[-1]) not in {"user", "tool"}:
        yield "the last message is neither the user's nor a tool's"


def results_follow_calls(messages: Sequence[BaseMessage]) -> Iterator[str]:
    """Each call is followed by its results, and each result follows a call."""
    before = ""
    for role in map(_role, messages):
        if role == "tool" and before not in {"calls", "tool"}:
            yield "a result without a call"
        if before == "calls" and role != "tool":
            yield "a call without a result"
        before = role


def has_a_user(messages: Sequence[BaseMessage]) -> Iterator[str]:
    """Some template wants a query of the user ("No user query found in messages.")."""
    if not any(_role(message) == "user" for message in messages):
        yield "nobody asks anything"


LENIENT: Final[tuple[Rule, ...]] = (system_first, ends_with_the_user, results_follow_calls, has_a_user)
STRICT: Final[tuple[Rule, ...]] = (*LENIENT, alternates)
FAMILIES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "chatglm": LENIENT,
    "command-r": STRICT,
    "deepseek": LENIENT,
    "gemma": STRICT,
    "granite": LENIENT,
    "hermes": LENIENT,
    "llama": STRICT,
    "mistral": STRICT,
    "phi": LENIENT,
    "qwen": LENIENT,
}


def refusals(family: str, messages: Sequence[BaseMessage]) -> list[Any]:
    """Return what the family's template refuses of a request."""
    return [fault for rule in FAMILIES[family] for fault in rule(messages)]
