"""The sentences of the service's errors by code, in English and in Chinese; `.hint` names the next step."""

from typing import Final

from drive_server.messages import Language

Texts = tuple[str, str]
"""One text in English and in Chinese."""

CATALOGUE: Final[dict[str, Texts]] = {
    "internal": ("Something went wrong in the service.", "服务出了问题。"),
    "internal.hint": ("Try again; the service's log has the cause.", "请重试；原因见服务的日志。"),
    "old_schema": (
        "The schema is at {version}; this program needs {newest}.",
        "数据库结构的版本是 {version}，此程序需要 {newest}。",
    ),
    "not_ready": ("Not ready: {missing}.", "尚未就绪：{missing}。"),
    "not_ready.hint": ("See the service's log.", "请查看服务的日志。"),
    "not_found": ("There is nothing here with this id.", "这里没有使用该 id 的内容。"),
    "not_found.hint": ("Use an id that this service gave you.", "请使用此服务给出的 id。"),
    "no_run": ("There is no such run.", "没有这次运行。"),
    "no_active_run": ("There is no such run, or it is over.", "没有这次运行，或者它已经结束。"),
    "no_change": ("There is no such change in this run.", "这次运行中没有这项更改。"),
    "no_thread_or_run": (
        "There is no such thread, or no such run in it.",
        "没有这个对话，或者其中没有这次运行。",
    ),
    "no_thread": ("There is no such thread.", "没有这个对话。"),
    "no_thread.hint": (
        "List your threads, or leave thread_id out to begin one.",
        "请列出你的对话，或者去掉 thread_id 以新建一个。",
    ),
    "no_message": ("There is no such message in this thread.", "这个对话中没有这条消息。"),
    "not_last_message": (
        "Only the last message of a thread can be edited or answered anew.",
        "只能修改对话中的最后一条消息，或重新回答它。",
    ),
    "not_last_message.hint": (
        "Use the message that `details.message_id` names, or send a new one.",
        "请使用 `details.message_id` 指出的消息，或者发送一条新消息。",
    ),
    "no_plan": ("There is no plan in this thread.", "这个对话中没有计划。"),
    "no_approval": ("There is no such approval.", "没有这项审批。"),
    "no_grant": ("There is no such grant.", "没有这项授权。"),
    "no_memory": ("There is no such memory.", "没有这条记忆。"),
    "no_memory.hint": (
        "List what is remembered, and use an id from there.",
        "请列出已记住的内容，并使用其中的 id。",
    ),
    "result_not_shared": (
        "This result is about something that is not shared with you any more.",
        "这个结果涉及已不再共享给你的内容。",
    ),
    "no_result": ("This thread has no such result.", "这个对话没有这个结果。"),
    "no_assistant": ("There is no such assistant.", "没有这个助手。"),
    "no_assistant.hint": (
        "Use an id of GET /api/assistants; drive_agent is the built-in one.",
        "请使用 GET /api/assistants 中的 id；drive_agent 是内置助手。",
    ),
    "built_in_assistant": ("The built-in assistant can't be changed or deleted.", "内置助手不能修改或删除。"),
    "built_in_assistant.hint": (
        "Create an assistant of your own. Only its servers and is_default can be set here.",
        "请新建自己的助手。内置助手只能设置服务器和 is_default。",
    ),
    "unknown_drive_tools": ("The drive has no tools of these names: {names}.", "云盘没有这些工具：{names}。"),
    "unknown_drive_tools.hint": (
        "Use the names in `details.known`, or null for all tools.",
        "请使用 `details.known` 中的名称，或用 null 表示全部工具。",
    ),
    "no_model": ("There is no model of the name {model} here.", "这里没有名为 {model} 的模型。"),
    "no_model.hint": (
        "Use an id of GET /v1/models: an assistant's name, or NAME:text for its model without tools.",
        "请使用 GET /v1/models 中的 id：助手的名称，或用“名称:text”表示其不带工具的模型。",
    ),
    "no_response": ("There is no such response or conversation.", "没有这个回复或会话。"),
    "no_response.hint": (
        "Use an id that this service gave you, or leave it out to begin a conversation.",
        "请使用此服务给出的 id，或去掉它以新建会话。",
    ),
    "tool_required": (
        "Tools of a client are not called here, so none can be required.",
        "这里不会调用客户端的工具，因此不能要求必须调用。",
    ),
    "tool_required.hint": (
        "Leave tool_choice out. The assistant uses its own tools.",
        "请去掉 tool_choice。助手使用自己的工具。",
    ),
    "no_order": ("The last message is not one of the user.", "最后一条消息不是用户的消息。"),
    "no_order.hint": (
        "Send the user's message last. Only that is carried out.",
        "请把用户的消息放在最后。只有它会被执行。",
    ),
    "empty_order": ("The last message of the user has no text.", "用户的最后一条消息没有文字。"),
    "empty_order.hint": ("Write a message.", "请写一条消息。"),
    "nul_in_order": ("A message can't have NUL characters.", "消息中不能有 NUL 字符。"),
    "nul_in_order.hint": ("Remove them.", "请去掉这些字符。"),
    "long_order": (
        "The last message of the user is longer than {limit} characters.",
        "用户的最后一条消息超过 {limit} 个字符。",
    ),
    "long_order.hint": (
        "Put long texts into a file of the drive, and name it.",
        "请把长文本存为云盘中的文件，并写出文件名。",
    ),
    "long_instructions": (
        "The system messages together are longer than {limit} characters.",
        "系统消息合计超过 {limit} 个字符。",
    ),
    "long_instructions.hint": ("Shorten them.", "请缩短它们。"),
    "no_data_address": (
        "Pictures and files are taken as data: addresses in base64 only; nothing is fetched from elsewhere.",
        "图片和文件只接受 base64 形式的 data: 地址；不会从别处下载任何内容。",
    ),
    "no_data_address.hint": (
        "Send the bytes as data:TYPE;base64,..., or put the file into the drive and name it.",
        "请以 data:类型;base64,... 的形式发送内容，或把文件放入云盘并写出文件名。",
    ),
    "bad_data_address": ("The base64 of a picture or a file is damaged.", "图片或文件的 base64 内容已损坏。"),
    "bad_data_address.hint": ("Send it again.", "请重新发送。"),
    "unknown_part": ("Parts of the type {kind} can't be read here.", "这里无法读取 {kind} 类型的内容。"),
    "unknown_part.hint": ("Send text, pictures or files.", "请发送文字、图片或文件。"),
    "too_many_files": (
        "A message can't have more than {limit} pictures and files.",
        "一条消息最多附带 {limit} 个图片和文件。",
    ),
    "too_many_files.hint": ("Send several messages.", "请分几条消息发送。"),
    "only_decisions": (
        "Answers to approvals and a message can't come in one request.",
        "对审批的答复和消息不能放在同一个请求中。",
    ),
    "only_decisions.hint": ("Send the answers first, and the message afterwards.", "请先发送答复，再发送消息。"),
    "several_approvals": ("These answers are about several approvals.", "这些答复涉及多项审批。"),
    "several_approvals.hint": ("Send those of one approval at a time.", "请每次只发送一项审批的答复。"),
    "text_only": ("The model without tools reads text only.", "不带工具的模型只读取文字。"),
    "text_only.hint": ("Use the assistant itself for pictures and files.", "图片和文件请交给助手本身处理。"),
    "both_places": (
        "previous_response_id and conversation can't both be given.",
        "不能同时给出 previous_response_id 和 conversation。",
    ),
    "both_places.hint": ("Leave one of them out.", "请去掉其中一个。"),
    "no_server": ("There is no such MCP server.", "没有这个 MCP 服务器。"),
    "no_server.hint": ("Use an id of GET /api/mcp-servers.", "请使用 GET /api/mcp-servers 中的 id。"),
    "no_tool": ("This server has no tool of the name {name}.", "这个服务器没有名为 {name} 的工具。"),
    "no_tool.hint": ("Connect to the server, and list its tools.", "请先连接服务器，再列出它的工具。"),
    "no_call": ("There is no such call in this message.", "这条消息中没有这个调用。"),
    "no_call.hint": (
        "Use the message and the call of an approval that waits.",
        "请使用等待审批的消息和调用的 id。",
    ),
    "remote_without_url": (
        "A server of this type needs base_url, an http or https address without user and password.",
        "这种类型的服务器需要 base_url，即不含用户名和密码的 http 或 https 地址。",
    ),
    "remote_without_url.hint": (
        "Give base_url, and put keys into headers; or give a command.",
        "请填写 base_url，把密钥放进 headers；或者填写 command。",
    ),
    "stdio_without_command": ("A server of the type stdio needs a command.", "stdio 类型的服务器需要 command。"),
    "stdio_without_command.hint": (
        "Give command, or base_url for a remote one.",
        "请填写 command，远程服务器则填写 base_url。",
    ),
    "unusable_server": ("These parts of it can't be used: {fields}.", "其中这些部分无法使用：{fields}。"),
    "unusable_server.hint": ("Correct them, and import it again.", "请更正后重新导入。"),
    "no_servers_in_document": (
        "This document has no list of MCP servers.",
        "这个文档中没有 MCP 服务器的列表。",
    ),
    "no_servers_in_document.hint": (
        "Send the JSON with `mcpServers` (Claude Desktop, Cursor) or `servers` (VS Code).",
        "请发送含有 `mcpServers`（Claude Desktop、Cursor）或 `servers`（VS Code）的 JSON。",
    ),
    "name_taken": ("You have one of the name {name} already.", "你已经有一个名为 {name} 的了。"),
    "name_taken.hint": ("Choose another name.", "请换一个名称。"),
    "too_many_servers": (
        "You have {limit} MCP servers, which is the limit.",
        "你已有 {limit} 个 MCP 服务器，达到上限。",
    ),
    "too_many_servers.hint": (
        "Delete one that you don't use. An operator can change the limit (AGENT_MCP_SERVERS_PER_PERSON).",
        "请删除不用的服务器。管理员可以修改上限（AGENT_MCP_SERVERS_PER_PERSON）。",
    ),
    "too_many_assistants": ("You have {limit} assistants, which is the limit.", "你已有 {limit} 个助手，达到上限。"),
    "too_many_assistants.hint": ("Delete one that you don't use.", "请删除不用的助手。"),
    "too_many_imports": (
        "{limit} of your imports of threads are not whole yet, which is the limit.",
        "你有 {limit} 个对话的导入尚未完成，达到上限。",
    ),
    "too_many_imports.hint": (
        "Send the last part of one. What is not finished is deleted after a day.",
        "请发送其中一个的最后部分。未完成的导入会在一天后删除。",
    ),
    "imports_too_large": (
        "Your imports of threads that are not whole yet would take more than {limit} bytes.",
        "你尚未完成的对话导入将超过 {limit} 字节。",
    ),
    "imports_too_large.hint": (
        "Send the last part of one. What is not finished is deleted after a day.",
        "请发送其中一个的最后部分。未完成的导入会在一天后删除。",
    ),
    "tool_changed": (
        "The server has changed its tool {name} since you saw it. Nothing of this request was done.",
        "服务器在你查看之后修改了工具 {name}。这个请求没有做任何更改。",
    ),
    "tool_changed.hint": (
        "List the tools again, look at the difference, and accept the hash that you see.",
        "请重新列出工具，查看差异，再接受所显示的 hash。",
    ),
    "sign_in_failed": ("You are not signed in: {reason}", "没有登录：{reason}"),
    "sign_in_failed.hint": (
        "Begin again with POST /api/mcp-servers/{{id}}/authorize.",
        "请用 POST /api/mcp-servers/{{id}}/authorize 重新开始。",
    ),
    "server_unavailable": ("The server can't be reached: {reason}", "无法连接服务器：{reason}"),
    "server_unavailable.hint": (
        "Test it with POST /api/mcp-servers/{{id}}/connect.",
        "请用 POST /api/mcp-servers/{{id}}/connect 测试。",
    ),
    "secrets_key": (
        "The key for the secrets of MCP servers is not valid.",
        "MCP 服务器机密的密钥无效。",
    ),
    "secrets_key.hint": (
        "Set AGENT_SECRETS_KEY to a Fernet key, or restore the file secrets.key in the data directory.",
        "请把 AGENT_SECRETS_KEY 设为 Fernet 密钥，或恢复数据目录中的文件 secrets.key。",
    ),
    "secrets_key_needed": (
        "AGENT_SECRETS_KEY is not set. With DRIVE_DATABASE_URL it is required: several services have the same secrets.",
        "未设置 AGENT_SECRETS_KEY。设置了 DRIVE_DATABASE_URL 时必须设置它，因为多个服务共用同一批机密。",
    ),
    "secrets_key_needed.hint": (
        "Set it to the content of the file secrets.key in the data directory if there is one, else to a new key: "
        'python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())".',
        "数据目录中如有文件 secrets.key，请填入其内容；否则填入新密钥："
        'python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"。',
    ),
    "secrets_key_lost": (
        "The key of the stored secrets of MCP servers ({count}) is missing, or is another one.",
        "已保存的 MCP 服务器机密（{count} 项）的密钥缺失或已被更换。",
    ),
    "secrets_key_lost.hint": (
        "Put the file secrets.key back into the data directory, or the key into AGENT_SECRETS_KEY. Backups have the "
        "file. To start without these secrets, set DRIVE_KEEP_EVERYTHING=true: they are kept, and count as not set.",
        "请把文件 secrets.key 放回数据目录，或把密钥填入 AGENT_SECRETS_KEY；备份中有该文件。"
        "如要在没有这些机密的情况下启动，请设置 DRIVE_KEEP_EVERYTHING=true：机密会保留，但视为未设置。",
    ),
    "bad_event_number": ("Last-Event-ID is not the number of an event.", "Last-Event-ID 不是事件的编号。"),
    "bad_event_number.hint": ("Use the id of a frame.", "请使用某一帧的 id。"),
    "no_version": ("It is not said which version of the plan was seen.", "没有说明看到的是计划的哪个版本。"),
    "no_version.hint": ("Send `version`.", "请发送 `version`。"),
    "not_a_file": ("context.file_id names no file.", "context.file_id 指的不是文件。"),
    "not_a_file.hint": ("Use the id of a file.", "请使用文件的 id。"),
    "not_a_folder": ("context.folder_id names no folder.", "context.folder_id 指的不是文件夹。"),
    "not_a_folder.hint": ("Use the id of a folder.", "请使用文件夹的 id。"),
    "model_not_allowed": ("The model {model} can't be chosen here.", "这里不能选择模型 {model}。"),
    "model_not_allowed.hint": (
        "Choose one of GET /api/models, or leave model out.",
        "请选择 GET /api/models 中的一个，或去掉 model。",
    ),
    "invalid_decision.hint": (
        "Send one decision for each action, by its tool_call_id; the approval still waits.",
        "请按 tool_call_id 为每个操作发送一个决定；审批仍在等待。",
    ),
    "unknown_action": (
        "This approval has no action with that tool_call_id.",
        "这项审批中没有使用该 tool_call_id 的操作。",
    ),
    "decided_twice": ("An action has more than one decision.", "有一个操作收到了多个决定。"),
    "undecided": ("An action has no decision.", "有一个操作没有决定。"),
    "unusable_decision": ("{problem}", "{problem}"),
    "unusable_kind": ("{name} can't be answered with {kind}.", "不能用 {kind} 答复 {name}。"),
    "unusable_args": ("The arguments don't fit {name}: {problem}", "这些参数不适用于 {name}：{problem}"),
    "unusable_answer": (
        "The answer does not fit the question of the server: {problem}",
        "回答不符合服务器的问题：{problem}",
    ),
    "invalid_grant.hint": (
        "Approve without a grant, or give one for an action that can be undone; the approval still waits.",
        "请不带授权地批准，或只为可以撤销的操作授权；审批仍在等待。",
    ),
    "unusable_grant": ("This grant can't be given: {problem}", "不能给予这项授权：{problem}"),
    "read_only_assistants": (
        "Assistants can't be made, changed or deleted here.",
        "不能在这里新建、修改或删除助手。",
    ),
    "read_only_assistants.hint": ("Use the page, or /api/assistants.", "请使用网页，或 /api/assistants。"),
    "no_schedules": ("There are no scheduled runs.", "没有定时运行的功能。"),
    "no_schedules.hint": ("Start the run when it is due.", "请在需要时再开始运行。"),
    "thread_exists": ("There is a thread with this id already.", "已有使用该 id 的对话。"),
    "thread_exists.hint": ("Send if_exists: do_nothing to get it.", "请发送 if_exists: do_nothing 以取得它。"),
    "nothing_waits": ("This thread waits for no answer.", "这个对话没有在等待答复。"),
    "nothing_waits.hint": ("Send a message instead.", "请改为发送消息。"),
    "stale_checkpoint": (
        "The thread is not at this checkpoint any more; nothing was decided.",
        "这个对话已不在该检查点，没有作出任何决定。",
    ),
    "stale_checkpoint.hint": ("Read the thread anew, and answer what waits.", "请重新读取对话，再答复正在等待的内容。"),
    "not_a_uuid": ("An id has to be a UUID.", "id 必须是 UUID。"),
    "not_a_uuid.hint": ("Leave it out, and use the one in the answer.", "请省略它，并使用答复中的 id。"),
    "no_message_to_run.hint": ("Send what the person says.", "请发送用户所说的内容。"),
    "only_text.hint": ("Upload files, and name them in the message.", "请上传文件，并在消息中写出其名称。"),
    "only_human_messages.hint": (
        "Put {{type: human, content: TEXT}} into `values.messages`; answer questions with `command.resume`.",
        "请把 {{type: human, content: 文字}} 放进 `values.messages`；问题请用 `command.resume` 回答。",
    ),
    "checkpoints_stay.hint": ("Use the strategy delete to remove threads.", "要删除对话，请使用 delete 策略。"),
    "no_message_to_run": (
        "There is no message to answer: `input.messages` needs one of type human with text.",
        "没有要回答的消息：`input.messages` 需要一条类型为 human 的文字消息。",
    ),
    "message_too_long": ("A message has {most} characters at most.", "一条消息最多 {most} 个字符。"),
    "message_too_long.hint": ("Upload the text as a file instead.", "请改为把文字作为文件上传。"),
    "nul_in_message": ("A message can't have NUL characters.", "消息不能包含 NUL 字符。"),
    "nul_in_message.hint": ("Send it without them.", "请去掉后再发送。"),
    "no_breakpoints": ("A run can't stop at nodes of the graph.", "运行不能停在图的节点上。"),
    "no_breakpoints.hint": (
        "Leave interrupt_before and interrupt_after out: whatever matters asks by itself.",
        "请去掉 interrupt_before 和 interrupt_after：重要的操作会自行询问。",
    ),
    "no_goto": ("A run can't go to a node of the graph, except to __end__.", "运行不能跳到图的节点，除了 __end__。"),
    "no_goto.hint": ("Use __end__ to have nothing done that waits.", "使用 __end__ 则正在等待的操作都不执行。"),
    "unknown_stream_mode": (
        "There is no such stream mode; known are {known}.",
        "没有这种流模式；可用的有 {known}。",
    ),
    "unknown_stream_mode.hint": ("Ask for one of them.", "请使用其中一种。"),
    "only_text": (
        "A message may have text only; files belong into the drive.",
        "消息只能包含文字；文件请放进云盘。",
    ),
    "only_human_messages": (
        "A state update may add messages of type human, and nothing else.",
        "更新状态时只能添加类型为 human 的消息。",
    ),
    "unknown_command": ("There is no such command: {method}.", "没有这个命令：{method}。"),
    "unknown_command.hint": (
        "Use run.start, input.respond or state.get.",
        "请使用 run.start、input.respond 或 state.get。",
    ),
    "which_runs": ("The request names no runs.", "请求没有指明哪些运行。"),
    "which_runs.hint": ("Send run_ids, or a status.", "请发送 run_ids 或 status。"),
    "no_item": ("There is no such item.", "没有这一项。"),
    "bad_namespace": (
        "A namespace is a list of words without dots.",
        "命名空间是由不含点号的词组成的列表。",
    ),
    "bad_namespace.hint": ('Send one such as ["notes"].', '请发送例如 ["notes"] 的列表。'),
    "webhook_not_allowed": (
        "The end of a run is told to listed hosts only, and this one is not listed: {host}.",
        "运行结束的通知只能发往列表中的主机，而此主机不在列表中：{host}。",
    ),
    "webhook_not_allowed.hint": (
        "Ask the operator to add it to AGENT_WEBHOOK_HOSTS, or leave webhook out and join the run.",
        "请联系运营者将其加入 AGENT_WEBHOOK_HOSTS，或去掉 webhook 并等待运行结束。",
    ),
    "no_checkpoint": ("There is no such checkpoint in this thread.", "这个对话中没有这个检查点。"),
    "checkpoints_stay": (
        "The earlier states of a thread stay: versions of messages are made of them.",
        "对话的早期状态会保留：消息的各个版本由它们构成。",
    ),
    "unreadable_answer": (
        "This is no answer to what waits: {problem}",
        "这不是对正在等待内容的有效答复：{problem}",
    ),
    "thread_busy": (
        "The assistant still works on this thread (run {run_id}).",
        "助手仍在处理这个对话（运行 {run_id}）。",
    ),
    "thread_busy.hint": ("Wait until that run is done, or cancel it.", "请等它结束，或取消它。"),
    "approval_pending": (
        "This thread waits for approval {approval_id}; a message does not answer it.",
        "这个对话正在等待审批 {approval_id}；发送消息不会答复它。",
    ),
    "approval_pending.hint": (
        "Decide it with POST /api/approvals/{{id}}, or cancel its run.",
        "请用 POST /api/approvals/{{id}} 作出决定，或取消它的运行。",
    ),
    "plan_paused": ("This thread has a plan that is paused.", "这个对话有一个已暂停的计划。"),
    "plan_paused.hint": (
        "Resume or stop it with POST /api/threads/{thread_id}/plan/resume or .../stop.",
        "请用 POST /api/threads/{thread_id}/plan/resume 继续，或用 .../stop 停止。",
    ),
    "plan_over": ("This plan is over: {status}.", "这个计划已经结束：{status}。"),
    "plan_over.hint": ("Send a message for what is still to be done.", "还有事要做时，请发送一条消息。"),
    "plan_changed": (
        "The plan was changed meanwhile. Nothing of this request was done.",
        "计划在此期间已被修改。这个请求没有做任何更改。",
    ),
    "plan_changed.hint": ("Read the plan again, and change it from there.", "请重新读取计划，再作修改。"),
    "steps_begun": (
        "Steps that were to be changed have begun. Nothing of this request was done.",
        "要修改的步骤已经开始。这个请求没有做任何更改。",
    ),
    "steps_begun.hint": ("Read the plan again, and change it from there.", "请重新读取计划，再作修改。"),
    "invalid_plan": (
        "This is no plan that can be carried out: {problem}.",
        "这些步骤不能组成可执行的计划，原因（英文）见 `details`。",
    ),
    "invalid_plan.hint": (
        "Change the steps that `details` names; the plan is as it was.",
        "请修改 `details` 指出的步骤；计划保持原样。",
    ),
    "approval_decided": ("This approval was decided already.", "这项审批已经有了决定。"),
    "approval_expired": (
        "This approval has expired, which counts as a rejection.",
        "这项审批已过期，视为拒绝。",
    ),
    "approval_cancelled": (
        "This approval was cancelled together with its run.",
        "这项审批已随它的运行一起取消。",
    ),
    "approval_closed.hint": (
        "Nothing was changed by this request; the run's events say what became of it.",
        "这个请求没有做任何更改；后来的情况见该运行的事件。",
    ),
    "run_finished": ("This run has ended already: {status}.", "这次运行已经结束：{status}。"),
    "run_finished.hint": (
        "There is nothing to cancel; what it changed can be undone with POST /api/runs/{{id}}/undo.",
        "没有可取消的内容；它所做的更改可以用 POST /api/runs/{{id}}/undo 撤销。",
    ),
    "run_active": ("Run {run_id} is still at work.", "运行 {run_id} 仍在进行。"),
    "run_active.hint": ("Wait until it is done, or cancel it first.", "请等它结束，或先取消它。"),
    "shutting_down": ("The service is shutting down.", "服务正在关闭。"),
    "shutting_down.hint": ("Try again in a moment.", "请稍后重试。"),
}
STATES: Final[dict[str, str]] = {
    "success": "成功",
    "error": "失败",
    "cancelled": "已取消",
    "done": "已完成",
    "waiting": "等待中",
    "stopped": "已停止",
}
"""The states of runs and plans in Chinese."""


def render(code: str, language: Language, **facts: str) -> str:
    """Return the text of the code in the language, with the facts in it."""
    if language == "en":
        return CATALOGUE[code][0].format(**facts)
    shown = {name: STATES.get(fact, fact) if name == "status" else fact for name, fact in facts.items()}
    return CATALOGUE[code][1].format(**shown)
