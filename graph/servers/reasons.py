"""The reasons why a server can't be used, each with a code, and a sentence in English and Chinese."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Final, Literal

from graph.errors import AgentError
from graph.language import Language
from graph.servers.pins import cleaned

ReasonCode = Literal[
    "address_refused",
    "backoff",
    "busy",
    "changed",
    "closed",
    "command_missing",
    "command_refused",
    "crashed",
    "definition",
    "environment_refused",
    "flood",
    "host_unknown",
    "http_status",
    "internal",
    "issuer",
    "memory",
    "no_pkce",
    "no_posix",
    "not_encrypted",
    "not_mcp",
    "not_registered",
    "processes",
    "protocol",
    "redirect",
    "refused",
    "sign_in",
    "sign_in_denied",
    "sign_in_failed",
    "sign_in_gone",
    "sign_in_unneeded",
    "tls",
    "timeout",
    "too_large",
    "unauthorized",
    "unreachable",
]

SENTENCES: Final[Mapping[ReasonCode, tuple[str, str]]] = {
    "address_refused": (
        "{host} is an address inside a private network. An operator can allow it with AGENT_MCP_PRIVATE_HOSTS.",
        "{host} 是内网地址，不能连接。管理员可以用 AGENT_MCP_PRIVATE_HOSTS 放行。",
    ),
    "backoff": (
        "It failed a moment ago: {last} The next attempt is possible in {seconds} seconds.",
        "刚才连接失败：{last} {seconds} 秒后可以重试。",
    ),
    "busy": (
        "It was called {limit} times within a minute. The next call is possible in {seconds} seconds.",
        "一分钟内已调用 {limit} 次，{seconds} 秒后可以再次调用。",
    ),
    "changed": (
        "Its settings were changed after this turn began. Ask again to use the new ones.",
        "它的设置在本轮开始之后被修改了，请重新提问以使用新的设置。",
    ),
    "closed": (
        "It closed the connection.",
        "它关闭了连接。",
    ),
    "command_missing": ("The program {command} is not installed.", "没有安装程序 {command}。"),
    "command_refused": (
        "Servers that run as a program are off for this command. An operator can allow it with AGENT_STDIO_COMMANDS.",
        "不允许运行这个命令。管理员可以用 AGENT_STDIO_COMMANDS 放行。",
    ),
    "crashed": ("The program ended ({status}).", "程序已退出（{status}）。"),
    "definition": ("Its settings are not valid: {detail}.", "它的设置无效：{detail}。"),
    "environment_refused": (
        "The environment variable {name} is not allowed for this command. "
        "An operator can allow it with AGENT_STDIO_COMMANDS.",
        "不允许为这个命令设置环境变量 {name}。管理员可以用 AGENT_STDIO_COMMANDS 放行。",
    ),
    "flood": ("It sent too many messages at once.", "它一次发送了过多消息。"),
    "host_unknown": ("There is no host of the name {host}.", "找不到主机 {host}。"),
    "http_status": ("It answered with the HTTP status {status}.", "它返回了 HTTP 状态 {status}。"),
    "internal": ("Something went wrong in the connection.", "连接内部出错。"),
    "issuer": (
        "Its sign-in leads to another service than the one that it names.",
        "它的登录页面与它声明的登录服务不一致。",
    ),
    "memory": ("The program used more memory than it may ({limit} MB).", "程序使用的内存超过了上限（{limit} MB）。"),
    "not_encrypted": (
        "{host} is not reached by https, so no sign-in is possible there.",
        "{host} 没有使用 https，不能在那里登录。",
    ),
    "not_registered": (
        "Its sign-in service does not let this program register itself. Register it there, and enter the client id.",
        "它的登录服务不允许本程序自动注册。请先在那里注册，再填写客户端 ID。",
    ),
    "no_pkce": (
        "Its sign-in service does not offer PKCE (S256), so the sign-in would not be safe.",
        "它的登录服务不支持 PKCE（S256），登录不安全。",
    ),
    "no_posix": (
        "Servers that run as a program need Linux or macOS. Use one with an address.",
        "以程序运行的服务器需要 Linux 或 macOS，请改用带地址的服务器。",
    ),
    "not_mcp": ("Its answer is not MCP. Check the address and the type.", "它的回答不是 MCP，请检查地址和类型。"),
    "processes": (
        "The program started more processes than it may ({limit}).",
        "程序启动的进程数超过了上限（{limit}）。",
    ),
    "protocol": (
        "It speaks another version of MCP ({versions}). This service speaks {supported} and older.",
        "它使用的 MCP 版本不同（{versions}），本服务支持 {supported} 及更早的版本。",
    ),
    "redirect": (
        "It sends the connection on to another address. Enter that address, if you trust it.",
        "它把连接转到了另一个地址。如果您信任该地址，请直接填写它。",
    ),
    "refused": ("It refused the request.", "它拒绝了请求。"),
    "sign_in": ("It wants you to sign in.", "它需要您登录。"),
    "sign_in_denied": ("You, or the sign-in service, refused the access.", "您或登录服务拒绝了授权。"),
    "sign_in_failed": (
        "The sign-in failed: the service did not answer as it should.",
        "登录失败：登录服务的回答不正确。",
    ),
    "sign_in_gone": (
        "This sign-in is over, or was finished already. Begin a new one.",
        "这次登录已失效或已完成，请重新登录。",
    ),
    "sign_in_unneeded": ("It wants no sign-in.", "它不需要登录。"),
    "tls": ("Its certificate is not valid for {host}.", "它的证书对 {host} 无效。"),
    "timeout": ("It did not answer within {seconds} seconds.", "它在 {seconds} 秒内没有回答。"),
    "too_large": ("Its answer is larger than {limit} bytes.", "它的回答超过了 {limit} 字节。"),
    "unauthorized": (
        "It wants a sign-in or another key (HTTP status {status}).",
        "它需要登录或其他密钥（HTTP 状态 {status}）。",
    ),
    "unreachable": ("{host} can't be reached.", "无法连接到 {host}。"),
}


MOST_DETAIL_CHARACTERS: Final = 500
MOST_LINES: Final = 10
MOST_LINE_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a server can't be used. A parameter may be a `Reason` itself.

    `detail` was written by the server: for the person only, never for a model.
    """

    code: ReasonCode
    params: Mapping[str, "str | int | Reason"] = field(default_factory=dict[str, "str | int | Reason"])
    detail: str = ""

    def sentence(self, language: Language = "en") -> str:
        """Return the sentence, with nothing in it that the server wrote."""
        text = SENTENCES[self.code][language == "zh"]
        shown = {
            name: value.sentence(language) if isinstance(value, Reason) else value
            for name, value in self.params.items()
        }
        return text.format(**shown)

    def for_person(self, language: Language = "en") -> str:
        """Return the sentence, and after it the server's own words, if any."""
        return " ".join(filter(None, (self.sentence(language), cleaned(self.detail)[:MOST_DETAIL_CHARACTERS])))

    @property
    def last_lines(self) -> str:
        """Return the last lines that the server or its program wrote; empty if it wrote nothing."""
        lines = [line.rstrip() for line in cleaned(self.detail).splitlines() if line.strip()]
        return "\n".join(line[:MOST_LINE_CHARACTERS] for line in lines[-MOST_LINES:])


def timed_out(seconds: float) -> Reason:
    """Return the reason that no answer came in so many seconds; a part of one counts as a whole one."""
    return Reason("timeout", {"seconds": ceil(seconds)})


class FaultError(Exception):
    """Ends a connection to a server, for a reason that people can read."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.code)
        self.reason = reason


OUTCOME_UNKNOWN: Final = (" Whether the call was carried out is unknown.", "无法确定这次调用是否已经执行。")


class ServerUnavailableError(AgentError):
    """A person's server can't be used, or did not answer; the reason says why.

    With `outcome_unknown` the call had been sent: it may have been carried out.
    """

    code = "server_unavailable"
    retryable = True
    english = "The server {name} can't be used: {reason}"
    chinese = "服务器 {name} 无法使用：{reason}"

    def __init__(self, server_name: str, reason: Reason, *, outcome_unknown: bool = False) -> None:
        super().__init__(f"{server_name}: {reason.code}")
        self.server_name = server_name
        self.reason = reason
        self.outcome_unknown = outcome_unknown

    def __reduce__(self) -> tuple[object, ...]:
        state = {"language": self.language, "outcome_unknown": self.outcome_unknown}
        return type(self), (self.server_name, self.reason), state

    @property
    def sentence(self) -> str:
        """Return the sentence with the server and the reason in it, and nothing that the server wrote."""
        said = super().sentence.format(name=self.server_name, reason=self.reason.sentence(self.language))
        return said + OUTCOME_UNKNOWN[self.language == "zh"] if self.outcome_unknown else said
