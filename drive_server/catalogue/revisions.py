"""Sentences about revisions of MCP, and about requests of the one without sessions."""

from typing import Final

REVISIONS: Final[dict[str, tuple[str, str]]] = {
    "revision_unknown": (
        "The drive does not speak revision {requested} of MCP.",
        "云盘不支持 MCP 的 {requested} 版本。",
    ),
    "revision_unknown.hint": ("Use one of {supported}.", "请使用其中之一：{supported}。"),
    "revision_over_http": (
        "Here the drive does not speak revision {requested} of MCP; over HTTP it does.",
        "云盘在此处不支持 MCP 的 {requested} 版本；通过 HTTP 则支持。",
    ),
    "revision_over_http.hint": (
        "Begin with `initialize` and one of {supported}, or use the address of the running service.",
        "请先发送 `initialize` 并使用其中之一：{supported}，或者改用正在运行的服务的地址。",
    ),
    "routing_header_missing": ("The header {header} is missing.", "缺少请求头 {header}。"),
    "routing_header_missing.hint": (
        "Send it once, with the value that the body has.",
        "请发送一次该请求头，其值须与正文一致。",
    ),
    "header_differs": (
        "The header {header} says something else than the body.",
        "请求头 {header} 与正文不一致。",
    ),
    "header_differs.hint": (
        "Send the same value in both; encode what is no plain ASCII as =?base64?...?=.",
        "请在两处使用相同的值；非 ASCII 内容请编码为 =?base64?...?=。",
    ),
    "envelope_incomplete": (
        "`_meta` of this request lacks {key}, or has a value there that can't be used.",
        "此请求的 `_meta` 缺少 {key}，或其值无效。",
    ),
    "envelope_incomplete.hint": (
        "Send it with every request, as revision 2026-07-28 has it.",
        "请按 2026-07-28 版本的规定随每个请求发送。",
    ),
    "only_requests": (
        "Revision 2026-07-28 has no answers from the client.",
        "2026-07-28 版本中客户端不发送应答。",
    ),
    "only_requests.hint": (
        "Send the call again, with what was asked for in `inputResponses`.",
        "请重新发送调用，并在 `inputResponses` 中给出所需内容。",
    ),
    "no_method_here": ("There is no such method in revision {revision}.", "{revision} 版本中没有这个方法。"),
    "no_method_here.hint": ("`server/discover` tells what there is.", "`server/discover` 会列出可用的功能。"),
    "tasks_not_announced": (
        "This request is about tasks, and the client does not announce the extension for them.",
        "此请求与任务有关，但客户端没有声明任务扩展。",
    ),
    "tasks_not_announced.hint": (
        "Announce io.modelcontextprotocol/tasks in the capabilities of the request.",
        "请在请求的能力声明中加入 io.modelcontextprotocol/tasks。",
    ),
    "input_not_announced": (
        "This needs an answer that the client does not announce to be able to give.",
        "这需要客户端的答复，但客户端没有声明具备此能力。",
    ),
    "input_not_announced.hint": (
        "Announce what `requiredCapabilities` names in the capabilities of the request.",
        "请在请求的能力声明中加入 `requiredCapabilities` 所列的能力。",
    ),
    "state_not_ours": (
        "This `requestState` was not given for this call, by this person and with these arguments.",
        "这个 `requestState` 不是为此人以这些参数发出的这次调用而给出的。",
    ),
    "state_not_ours.hint": (
        "Make the call again without it; the person is then asked anew.",
        "请不带它重新调用；届时会再次询问对方。",
    ),
    "state_used": ("This answer of the person was used before.", "对方的这个答复已经用过。"),
    "state_used.hint": (
        "Make the call again without `requestState`; an idempotency key makes repeating safe.",
        "请不带 `requestState` 重新调用；使用幂等键可以安全地重复调用。",
    ),
    "too_many_listens": (
        "You have {limit} open streams of notifications, and may have no more.",
        "您已有 {limit} 个打开的通知流，不能再增加。",
    ),
    "too_many_listens.hint": ("Close one.", "请关闭其中一个。"),
    "no_requests_to_client": (
        "In revision 2026-07-28 a server sends its client no requests.",
        "在 2026-07-28 版本中，服务器不向客户端发送请求。",
    ),
}
