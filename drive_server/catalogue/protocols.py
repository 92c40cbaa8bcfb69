"""Sentences about MCP and tus themselves: methods, tools, sessions and headers that a program got wrong."""

from typing import Final

PROTOCOLS: Final[dict[str, tuple[str, str]]] = {
    # MCP
    "no_tool": ("There is no such tool.", "没有这个工具。"),
    "no_tool.hint": ("List the tools to see their names.", "请列出工具，查看它们的名称。"),
    "no_icon": ("There is no such icon.", "没有这个图标。"),
    "no_icon.hint": ("List the tools to see the addresses.", "请列出工具，查看图标的地址。"),
    "no_tier": ("The address names no such list of tools.", "地址中指定的工具列表不存在。"),
    "no_tier.hint": (
        "Use tools=core, tools=all or tools=whole, or leave it out.",
        "请使用 tools=core、tools=all 或 tools=whole，或不带此参数。",
    ),
    "no_such_tools": (
        "No further tool fits these words, or none that this key may use.",
        "没有符合这些词的其他工具，或此密钥无权使用。",
    ),
    "no_such_tools.hint": ("Name a group or a tool.", "请给出组名或工具名。"),
    "no_method": ("There is no such method.", "没有这个方法。"),
    "no_method.hint": ("Use those of the capabilities that were announced.", "请使用已声明的能力中的方法。"),
    "no_mcp_session": ("There is no such session.", "没有这个会话，或者它已经结束。"),
    "no_mcp_session.hint": ("Send `initialize` to open one.", "请发送 `initialize` 建立新会话。"),
    "session_not_named": ("This request names no session.", "这个请求没有指明会话。"),
    "session_not_named.hint": (
        "Send `initialize` first, then the header Mcp-Session-Id with each request.",
        "请先发送 `initialize`，之后每个请求都带上 Mcp-Session-Id 标头。",
    ),
    "purge_unasked": (
        "Nothing was deleted for good: this host can't ask its person, and its key does not have the permission "
        "'purge'.",
        "没有永久删除任何内容：此程序无法征求用户同意，其密钥也没有“purge”权限。",
    ),
    "purge_unasked.hint": (
        "Ask the person to delete it on the drive's page or with `drive-agent trash delete`, or to make a key with the "
        "scope purge.",
        "请让用户在云盘网页上删除，或使用 `drive-agent trash delete`；也可以为此程序创建带有 purge 权限的密钥。",
    ),
    "purge_without_key": (
        "Nothing was deleted for good: this host acts without a key of its own.",
        "没有永久删除任何内容：此程序没有使用自己的密钥。",
    ),
    "purge_without_key.hint": (
        "Ask the person to delete it on the drive's page or with `drive-agent trash delete`, or to give this host a "
        "key in DRIVE_API_KEY.",
        "请让用户在云盘网页上删除，或使用 `drive-agent trash delete`；也可以通过 DRIVE_API_KEY 给此程序一个密钥。",
    ),
    # tus
    "tus_version": ("This is for clients of the protocol tus.", "此地址只供 tus 协议的客户端使用。"),
    "tus_version.hint": ("Send the header Tus-Resumable: {version}.", "请发送标头 Tus-Resumable: {version}。"),
    "tus_extension": (
        "This service does not have the tus extension {extension}.",
        "本服务不支持 tus 扩展 {extension}。",
    ),
    "tus_extension.hint": (
        "Leave out {header}. The extensions here: {extensions}.",
        "请去掉 {header}。此处支持的扩展：{extensions}。",
    ),
    "tus_method": ("An upload is not posted to.", "不能向上传任务发送 POST。"),
    "tus_method.hint": (
        "Use PATCH, or name the method in X-HTTP-Method-Override.",
        "请使用 PATCH，或在 X-HTTP-Method-Override 中指明方法。",
    ),
    "tus_body_type": (
        "The header Content-Type names another type than an upload's.",
        "标头 Content-Type 不是上传所用的类型。",
    ),
    "tus_body_type.hint": ("Send it as {type}.", "请以 {type} 发送。"),
    "header_missing": ("The header {header} is missing.", "缺少标头 {header}。"),
    "header_missing.hint": ("How to send it: {rule}", "发送方式：{rule}"),
    "header_malformed": ("The header {header} is malformed.", "标头 {header} 格式不对。"),
    "header_malformed.hint": ("How to send it: {rule}", "发送方式：{rule}"),
    "tus_rule.filename": (
        "It has to have the key filename, with a name of usual length.",
        "其中须有键 filename，其值是长度正常的名称。",
    ),
    "tus_rule.place": (
        "parent_id is a folder's id; on_conflict is fail, rename or replace.",
        "parent_id 是文件夹的 id；on_conflict 是 fail、rename 或 replace。",
    ),
    "tus_rule.offset": ("Say where the bytes begin.", "请指明这些字节从哪里开始。"),
    "tus_rule.algorithm": ("The algorithms are {names}.", "支持的算法：{names}。"),
    "tus_rule.length": (
        "Send either Upload-Length or Upload-Defer-Length: 1.",
        "请发送 Upload-Length 或 Upload-Defer-Length: 1，二者取一。",
    ),
    "tus_rule.size": ("It may have {limit} characters.", "最多 {limit} 个字符。"),
    "tus_rule.key": (
        "Each key is ASCII without spaces, and stands there once.",
        "每个键都是不含空格的 ASCII，且只出现一次。",
    ),
    "tus_rule.utf8": ("The values are UTF-8 in Base64.", "各个值是 UTF-8 文字的 Base64。"),
    "tus_rule.base64": (
        "The values are in Base64 (RFC 4648, section 4).",
        "各个值须为 Base64（RFC 4648 第 4 节）。",
    ),
    "tus_rule.number": ("It is a number of bytes.", "它是字节数。"),
}
