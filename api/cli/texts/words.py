"""The words that the service says, such as the states of a run, and those of the checks of `doctor`."""

from typing import Final

WORDS: Final[dict[str, tuple[str, str]]] = {
    # The states of a run
    "run.running": ("running", "进行中"),
    "run.waiting": ("waiting", "等待您处理"),
    "run.success": ("success", "成功"),
    "run.error": ("error", "出错"),
    "run.cancelled": ("cancelled", "已取消"),
    # How a run was begun
    "mode.attended": ("attended", "有人值守"),
    "mode.unattended": ("unattended", "无人值守"),
    # The states of a call, also one that is open
    "call.open": ("open", "进行中"),
    "call.pending": ("pending", "等待中"),
    "call.invoking": ("invoking", "调用中"),
    "call.done": ("done", "已完成"),
    "call.error": ("error", "出错"),
    "call.cancelled": ("cancelled", "已取消"),
    "call.rejected": ("not allowed", "未获允许"),
    # What covers a call besides a grant
    "covered.plan": ("plan", "计划"),
    # The states of an approval
    "approval.waiting": ("waiting", "等待答复"),
    "approval.decided": ("decided", "已决定"),
    "approval.expired": ("expired", "已过期"),
    "approval.cancelled": ("cancelled", "已取消"),
    # Decisions
    "decision.approve": ("approve", "批准"),
    "decision.edit": ("edit", "修改后批准"),
    "decision.reject": ("reject", "拒绝"),
    "decision.respond": ("respond", "回复"),
    # Roles
    "role.owner": ("owner", "所有者"),
    "role.editor": ("editor", "编辑者"),
    "role.viewer": ("viewer", "查看者"),
    # Risks
    "risk.read": ("read", "读取"),
    "risk.write": ("write", "写入"),
    "risk.share": ("share", "共享"),
    "risk.delete": ("delete", "删除"),
    "risk.unknown": ("unknown", "未知"),
    # What a grant allows
    "grant.create": ("create", "新建"),
    "grant.write": ("write", "写入"),
    "grant.rename": ("rename", "重命名"),
    "grant.move": ("move", "移动"),
    "grant.copy": ("copy", "复制"),
    "grant.trash": ("trash", "移到回收站"),
    # Specialists
    "agent.document_agent": ("document_agent", "文档"),
    "agent.drive_agent": ("drive_agent", "云盘"),
    "agent.search_agent": ("search_agent", "搜索"),
    # What came of one file of many
    "reading.read": ("read", "已读取"),
    "reading.nothing": ("nothing", "没有相关内容"),
    "reading.failed": ("failed", "失败"),
    # The states of a plan
    "plan.running": ("running", "进行中"),
    "plan.paused": ("paused", "已暂停"),
    "plan.revising": ("revising", "正在另寻办法"),
    "plan.waiting": ("waiting", "等待您的回答"),
    "plan.stopped": ("stopped", "已停止"),
    "plan.done": ("done", "已完成"),
    "plan.interrupted": ("interrupted", "已中断"),
    # The states of an MCP server
    "server.connected": ("connected", "已连接"),
    "server.connecting": ("connecting", "正在连接"),
    "server.disconnected": ("disconnected", "未连接"),
    "server.error": ("error", "无法使用"),
    # Whether a tool asks
    "tool.disabled": ("disabled", "已停用"),
    "tool.without asking": ("without asking", "无需询问"),
    "tool.asks": ("asks", "会询问"),
    # Parts of a tool
    "part.name": ("name", "名称"),
    "part.title": ("title", "标题"),
    "part.description": ("description", "说明"),
    "part.input_schema": ("input_schema", "参数"),
    # The states of files in the search index, and what a summary counts
    "index.pending": ("pending", "等待读取"),
    "index.indexing": ("indexing", "正在读取"),
    "index.indexed": ("indexed", "可搜索"),
    "index.ready": ("ready", "可搜索"),
    "index.skipped": ("skipped", "未读取"),
    "index.unsupported": ("unsupported", "没有可读取的文字"),
    "index.needs password": ("needs password", "受密码保护"),
    "index.needs ocr": ("needs ocr", "需要 OCR"),
    "index.failed": ("failed", "失败"),
    # What a person is
    "user.disabled": ("disabled", "已停用"),
    "user.administrator": ("administrator", "管理员"),
    "user.user": ("user", "用户"),
    # The results of a check
    "state.ok": ("ok", "正常"),
    "state.warn": ("warn", "注意"),
    "state.fail": ("fail", "失败"),
    # What is checked
    "check.python": ("python", "Python 版本"),
    "check.data directory": ("data directory", "数据目录"),
    "check.disk": ("disk", "磁盘"),
    "check.access token": ("access token", "访问令牌"),
    "check.service": ("service", "服务"),
    "check.database": ("database", "数据库"),
    "check.drive": ("drive", "云盘"),
    "check.graph": ("graph", "助手"),
    "check.search index": ("search index", "搜索索引"),
    "check.model": ("model", "模型"),
    "check.model, router": ("model, router", "模型（分派）"),
    "check.model, planner": ("model, planner", "模型（计划）"),
    "check.model, reader": ("model, reader", "模型（阅读）"),
    "check.model, summarizer": ("model, summarizer", "模型（摘要）"),
    "check.model, to choose": ("model, to choose", "可选模型"),
    "check.model cost": ("model cost", "模型费用"),
    "check.model's service": ("model's service", "模型的服务"),
    # What the system says of a file
    "system.No such file or directory": ("No such file or directory", "没有此文件或文件夹"),
    "system.Permission denied": ("Permission denied", "没有权限"),
    "system.Operation not permitted": ("Operation not permitted", "不允许此操作"),
    "system.File exists": ("File exists", "文件已存在"),
    "system.Not a directory": ("Not a directory", "不是文件夹"),
    "system.Is a directory": ("Is a directory", "是文件夹"),
    "system.No space left on device": ("No space left on device", "磁盘空间不足"),
    "system.Disk quota exceeded": ("Disk quota exceeded", "超出磁盘配额"),
    "system.Read-only file system": ("Read-only file system", "文件系统只读"),
    "system.File name too long": ("File name too long", "文件名过长"),
    "system.Input/output error": ("Input/output error", "读写错误"),
    "system.Too many open files": ("Too many open files", "打开的文件过多"),
    # What was learnt about a model's service
    "rule.temperature": ("takes no temperature", "不接受 temperature"),
    "rule.parallel_tool_calls": (
        "does not let the client say whether calls are parallel",
        "不允许客户端指定调用是否并行",
    ),
    "rule.stream_options": ("is not asked for its usage", "不查询其用量"),
    "rule.max_completion_tokens": ("calls the limit of an answer max_tokens", "回答的上限称为 max_tokens"),
    "rule.tool_call_id": ("wants ids of 9 letters and digits for tool calls", "工具调用的 id 须为 9 个字母和数字"),
    "rule.content": ("wants an empty text beside tool calls, not none", "工具调用旁须有空文本，不能没有"),
    "rule.no_reasoning_content": ("takes no reasoning back", "不接受送回的推理"),
    "rule.reasoning_content": ("wants its reasoning back with the results of tools", "须将推理与工具结果一并送回"),
    "rule.json_schema": ("takes no JSON schema", "不接受 JSON schema"),
    "rule.tool_choice": (
        "refuses tool_choice, so it is asked with `auto`, and may answer with JSON in its text",
        "拒绝 tool_choice，因此以 `auto` 请求，可能在文本中以 JSON 回答",
    ),
    "rule.bare_thoughts": (
        "ends the model's thoughts in the text without having begun them",
        "在文本中结束模型的思考，却没有标出思考的开始",
    ),
    "rule.pictures": ("takes no pictures", "不接受图片"),
    "rule.tools": ("takes no tools for answers of a shape", "不接受用工具规定回答的格式"),
}
