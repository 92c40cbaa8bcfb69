"""The sentences of MCP servers and of assistants."""

from typing import Final

SERVERS: Final[dict[str, tuple[str, str]]] = {
    "servers_none": (
        "There are no MCP servers. `drive-agent servers add` defines one.",
        "没有 MCP 服务器。可用 `drive-agent servers add` 定义。",
    ),
    "server_off": ("switched off", "已停用"),
    "server_added": ("Added {name} ({id}), {place}.", "已添加 {name}（{id}），{place}。"),
    "server_works": (
        "Connected: {about}, MCP {protocol}; {tools} tools, {resources} resources, {prompts} prompts.",
        "已连接：{about}，MCP {protocol}；工具 {tools} 个，资源 {resources} 个，提示词 {prompts} 个。",
    ),
    "unusable": ("It can't be used: {sentence}", "无法使用：{sentence}"),
    "wrote_last": ("The last that it wrote:", "它最后输出的内容："),
    "unusable_now": ("It can't be used now: {sentence}", "目前无法使用：{sentence}"),
    "no_server": ("There is no MCP server of the name {name}.", "没有名为 {name} 的 MCP 服务器。"),
    "no_server.hint": ("`drive-agent servers list` shows them.", "可用 `drive-agent servers list` 查看。"),
    "no_command": ("There is no command after --stdio.", "--stdio 之后没有命令。"),
    "no_command.hint": (
        "Write it last: --stdio COMMAND ARGUMENTS.",
        "请写在最后：--stdio COMMAND ARGUMENTS。",
    ),
    "no_secret": ("There is no value for {name}.", "{name} 没有值。"),
    "no_secret.hint": ("Type it, or write NAME=VALUE.", "请输入，或写 NAME=VALUE。"),
    # The permission to run a program
    "stdio_refused": ("{setting} does not allow this command.", "{setting} 不允许此命令。"),
    "stdio_refused.hint": ("Add it there: {line}", "请在其中添加：{line}"),
    "stdio_runs": (
        "This runs a program on this computer, with your rights: {line}",
        "这会以您的权限在本机运行程序：{line}",
    ),
    "stdio_ask": (
        "Allow exactly this command, from now on? [y/N] ",
        "今后允许此命令（仅限此命令）？[y/N] ",
    ),
    "stdio_denied": (
        "The command is not allowed; nothing was added.",
        "未允许此命令；没有添加任何内容。",
    ),
    "stdio_restart": (
        "The running service reads this when it starts again: restart it, then test the server.",
        "正在运行的服务重新启动后才会读取此设置：请重启服务，然后测试服务器。",
    ),
    # Sign-in
    "sign_in_there": (
        "Open this address within ten minutes, in a browser that is logged in (`drive-agent login-link`):",
        "请在十分钟内，用已登录的浏览器（`drive-agent login-link`）打开此地址：",
    ),
    "signed_out": ("Signed out of {name}.", "已从 {name} 退出登录。"),
    # Import of another program's servers
    "environment_taken": (
        "Values of your environment are taken over: {names}",
        "将采用您的环境变量中的值：{names}",
    ),
    "server_left_out": ("Left out: {name}. {problem}", "未导入：{name}。{problem}"),
    "server_imported": ("Imported: {name} ({id}).", "已导入：{name}（{id}）。"),
    "server_needs": ("    It still needs: {names}", "    还需要：{names}"),
    "no_text_file": ("{name} can't be read as text.", "无法将 {name} 作为文本读取。"),
    "no_json_file": ("{name} is no JSON.", "{name} 不是 JSON。"),
    "no_json_file.hint": (
        'It looks like {{"mcpServers": {{...}}}}.',
        '形如 {{"mcpServers": {{...}}}}。',
    ),
    "no_server_list": ("{name} has no list of MCP servers.", "{name} 中没有 MCP 服务器列表。"),
    # Tools
    "tools_on": ("Enabled: {what}.", "已启用：{what}。"),
    "tools_off": ("Disabled: {what}.", "已停用：{what}。"),
    "no_tool": ("This server has no tool of the name {name}.", "此服务器没有名为 {name} 的工具。"),
    "tool_changed": ("changed, ", "已更改，"),
    "tool_was": ("{part} was: {value}", "{part}原为：{value}"),
    "tool_is": ("{part} is:  {value}", "{part}现为：{value}"),
    "tool_accept": ("--accept {name} takes the new definition.", "--accept {name} 采用新的定义。"),
    # Assistants
    "no_assistant": (
        "There is no assistant of the name {name}.",
        "没有名为 {name} 的助手。",
    ),
    "no_assistant.hint": (
        "`drive-agent assistants list` shows them.",
        "可用 `drive-agent assistants list` 查看。",
    ),
    "no_servers": ("no servers", "无服务器"),
    "is_default": ("  (default)", "  （默认）"),
    # Both
    "one_created": ("Created {name} ({id}).", "已创建 {name}（{id}）。"),
    "one_changed": ("Changed {name}.", "已更改 {name}。"),
    "one_removed": ("Removed {name}.", "已移除 {name}。"),
    "one_deleted": ("Deleted {name}.", "已删除 {name}。"),
}
