"""The sentences of conversations: turns, approvals, questions and prompts."""

from typing import Final

CHAT: Final[dict[str, tuple[str, str]]] = {
    "no_threads": ("There are no conversations.", "没有对话。"),
    "no_threads.hint": ("Begin one.", "请开始一个。"),
    "thread_renamed": ("{id}  {title}", "{id}  {title}"),
    "thread_deleted": ("Deleted: {id}. What was done in the drive stays.", "已删除：{id}。在云盘中所做的更改保留。"),
    "ask_delete_thread": (
        "Delete the conversation “{title}” for good? y(es), n(o) ",
        "永久删除对话“{title}”？y(是)，n(否) ",
    ),
    "empty_input": ("Standard input is empty.", "标准输入是空的。"),
    "empty_input.hint": ("Pipe the message in.", "请通过管道传入消息。"),
    "person": ("you", "你"),
    "assistant": ("assistant", "助手"),
    "chat_hello": (
        "Ask in English or Chinese; /help shows the commands, Ctrl-D leaves.",
        "可用中文或英文提问；/help 显示命令，Ctrl-D 退出。",
    ),
    "chat_help": (
        '@/path  attach that file or folder to the message; @"/a path" if it has spaces\n'
        "/new    start another conversation\n"
        "/prompt SERVER [NAME ARGUMENT=VALUE ...]   list a server's prompts, or send one\n"
        "/undo   take back what the last run that changed something did\n"
        "/help   this\n"
        "Ctrl-C  stop what the assistant is doing\n"
        "Ctrl-D  leave",
        '@/路径  将该文件或文件夹附到消息；有空格时写 @"/某 路径"\n'
        "/new    开始新对话\n"
        "/prompt SERVER [NAME ARGUMENT=VALUE ...]   列出服务器的提示词，或发送一个\n"
        "/undo   撤销最近一次有更改的运行\n"
        "/help   显示此帮助\n"
        "Ctrl-C  停止助手正在做的事\n"
        "Ctrl-D  退出",
    ),
    "chat_goes_on": ("{command}   goes on with this conversation", "{command}   继续此对话"),
    "chat_new": ("A new conversation.", "新的对话。"),
    "chat_unchanged": (
        "Nothing was changed in this conversation yet.",
        "此对话中还没有更改任何内容。",
    ),
    "use_option": ("Use {option} for it.", "请改用 {option}。"),
    # Turns
    "stopping": ("Stopping…", "正在停止…"),
    "turn_undo": ("{command}   takes these changes back", "{command}   撤销这些更改"),
    "turn_waits": ("It waits for your approval until {time}.", "等待您批准，截止 {time}。"),
    "turn_asks": ("{command}   asks you, and goes on", "{command}   向您询问，然后继续"),
    "turn_again": (" It may work if you try again.", "重试可能会成功。"),
    "turn_ended": ("The run ended as {status}.", "运行结束：{status}。"),
    "event_no_json": ("The service sent an event that is not JSON.", "服务发送的事件不是 JSON。"),
    "event_no_type": ("The service sent an event without a type.", "服务发送的事件没有类型。"),
    "stream_ended": (
        "The service ended the stream before the run began.",
        "服务在运行开始之前结束了事件流。",
    ),
    "stream_ended.hint": ("Try again.", "请重试。"),
    # The transcript
    "plan": ("Plan", "计划"),
    "plan_is_paused": (
        "The plan is paused. `drive-agent plan resume THREAD` lets it go on.",
        "计划已暂停。可用 `drive-agent plan resume THREAD` 继续。",
    ),
    "said_anew": ("(The text above is not the answer. It follows here.)", "（上面的文字不是回答，回答如下。）"),
    "thinking": ("… thinking", "… 正在思考"),
    "model_reads": ("… the model is reading ({percent} %)", "… 模型正在读取（{percent}%）"),
    "cited": ("{path}, version {version}{place}{changed}", "{path}，版本 {version}{place}{changed}"),
    "cited_place": (", {place}", "，{place}"),
    "cited_changed": (", changed since", "，之后有更改"),
    "not_verified": ("✗ not verified", "✗ 未核实"),
    "record.invoking": ("was sent the call", "已发送调用"),
    "record.done": ("answered", "已回答"),
    "record.error": ("failed", "失败"),
    "record.cancelled": ("was cancelled", "已取消"),
    "record.rejected": ("was not called: not allowed", "未调用：未获允许"),
    # Approvals
    "approval_needed": ("Approval needed{left}", "需要批准{left}"),
    "read_before": ("This comes after reading {sources}.", "此前读取了 {sources}。"),
    "source": ("{path} ({origin})", "{path}（{origin}）"),
    "comma": (", ", "、"),
    "resolved": ("{decision}: {about}", "{decision}：{about}"),
    "time_left": (" (within {time} minutes)", "（{time} 分钟内）"),
    "ask_all": (
        "All {count}: y(es), n(o) [why], p = one by one, s(how all)? ",
        "全部 {count} 项：y(批准)，n(拒绝) [原因]，p(逐个)，s(全部显示)？",
    ),
    "ask_one": (
        "y(es), n(o) [why], e(dit), s(how all){grant}? ",
        "y(批准)，n(拒绝) [原因]，e(修改)，s(全部显示){grant}？",
    ),
    "ask_grant": (
        ", g(rant every {kind} in) FOLDER [MINUTES [ITEMS]]",
        "，g(今后允许{kind}) 文件夹 [分钟 [项数]]",
    ),
    "grant_form": (
        "Write: g /Folder, or g /Folder 60 50 for an hour and 50 items.",
        "请写：g /文件夹；或 g /文件夹 60 50，即一小时内最多 50 项。",
    ),
    "ask_change": (
        "Change (name=value ..., or a JSON object; empty: nothing): ",
        "修改（名称=值 ...，或 JSON 对象；留空则不改）：",
    ),
    "change_unreadable": ("That can't be read: {reason}.", "无法读取：{reason}。"),
    "change_no_json": ("it is not valid JSON", "不是有效的 JSON"),
    "change_form": (
        "write name=value, with a name out of {names}",
        "请写 名称=值，名称可为 {names}",
    ),
    "not_answered": ("Standard input ended without an answer.", "标准输入结束时没有回答。"),
    "unanswered": (
        "An approval was rejected: standard input ended without an answer.",
        "一项操作已被拒绝：标准输入结束时没有回答。",
    ),
    "unanswered.hint": (
        "Answer on a terminal, pipe the answers in (y, n or e), or use --yes-to.",
        "请在终端中回答，通过管道传入回答（y、n 或 e），或使用 --yes-to。",
    ),
    "action": ("{name}   risk: {risk}, {undo}", "{name}   风险：{risk}，{undo}"),
    "can_undo": ("can be undone", "可以撤销"),
    "can_not_undo": ("can NOT be undone", "无法撤销"),
    "argument_cut": ("{beginning}… ({count} characters in all)", "{beginning}…（共 {count} 个字符）"),
    "lines_cut": ("… and {count} more lines", "……还有 {count} 行"),
    # Questions of MCP servers
    "question.title": ("{server} has a question{left}", "{server} 有一个问题{left}"),
    "question.answer": ("Answer it? y(es), n(o) ", "回答吗？y（是），n（否） "),
    "question.done": ("Have you done that there? y(es), n(o) ", "在那里办完了吗？y（是），n（否） "),
    "question.required": ("This has to be filled in.", "此项必须填写。"),
    "question.unknown": ("Write a number or a value from the list.", "请输入列表中的编号或值。"),
    "question.several": ("several, with commas between them", "可多选，用逗号分隔"),
    "question.yes_no": ("y or n", "y 或 n"),
    "question.needed": ("required", "必填"),
    "question.optional": ("empty: left out", "留空则不填"),
    "question.default": ("empty: {value}; - leaves it out", "留空则为 {value}；- 表示不填"),
    # Prompts of MCP servers
    "prompt_which": ("Which server?", "哪个服务器？"),
    "prompt_quote": ("A quotation mark is not closed.", "引号没有配对。"),
    "prompt_usage": (
        "{name} SERVER lists its prompts; {name} SERVER NAME ARGUMENT=VALUE ... shows one, and asks to send it.",
        "{name} SERVER 列出其提示词；{name} SERVER NAME ARGUMENT=VALUE ... 显示一个，并询问是否发送。",
    ),
    "prompt_written": (
        "The server wrote this. It is sent as your message:",
        "这是服务器写的，将作为您的消息发送：",
    ),
    "prompt_ask": ("Send it? (y/n) ", "要发送吗？(y/n) "),
    "prompt_none": ("This server has no prompts.", "此服务器没有提示词。"),
}
