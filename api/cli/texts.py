"""The sentences of the command line by code, in English and in Chinese; `.hint` says what to do next."""

import os
from typing import Any, Final, Literal

from api.cli.whole_drive_texts import WHOLE_DRIVE

Language = Literal["en", "zh"]
VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Where a terminal names its language, the first one that is set (POSIX, 8.2)."""

TEXTS: Final[dict[str, tuple[str, str]]] = {
    **WHOLE_DRIVE,
    "try": ("Try: {command}", "试试：{command}"),
    "stopped": ("Stopped.", "已停止。"),
    "unreachable": ("The service can't be reached.", "无法连接到服务。"),
    "unreachable.hint": (
        "Start the service, or check the address given with --url.",
        "请启动服务，或检查用 --url 给出的地址。",
    ),
    "timeout": ("The service did not answer in time.", "服务未及时应答。"),
    "timeout.hint": ("Try again; its log says more.", "请重试；详情见它的日志。"),
    "broken": ("The connection to the service broke.", "与服务的连接中断了。"),
    "broken.hint": ("Try again, or check the service.", "请重试，或检查服务。"),
    "bad_url": ("{url} is not the address of a service.", "{url} 不是服务的地址。"),
    "bad_url.hint": ("It looks like http://127.0.0.1:8000.", "地址形如 http://127.0.0.1:8000。"),
    "no_service": ("What answered is not this service.", "应答的不是此服务。"),
    "no_service.hint": ("Check the address given with --url.", "请检查用 --url 给出的地址。"),
    "status": ("The service answered {status}.", "服务应答了 {status}。"),
    "bad_token": (
        "Give a valid one with --token or DRIVE_AGENT_TOKEN.",
        "请用 --token 或 DRIVE_AGENT_TOKEN 给出有效的密钥。",
    ),
    "key_needed": ("A service on another machine needs a key.", "另一台机器上的服务需要密钥。"),
    "key_needed.hint": ("Give one with --token or DRIVE_AGENT_TOKEN.", "请用 --token 或 DRIVE_AGENT_TOKEN 给出。"),
    "token_form": ("The access token has characters that no token has.", "访问令牌含有令牌中不会有的字符。"),
    "token_form.hint": ("Copy it again.", "请重新复制。"),
    "no_token": ("The local access token can't be read ({reason}).", "无法读取本机访问令牌（{reason}）。"),
    "no_token.hint": (
        "Give one with --token or DRIVE_AGENT_TOKEN, or start the service on {root} once.",
        "请用 --token 或 DRIVE_AGENT_TOKEN 给出，或在 {root} 上启动一次服务。",
    ),
    "gone": ("The service is gone.", "服务已不在。"),
    "gone.hint": ("Start it, or run the command again.", "请启动它，或重新运行此命令。"),
    "busy": (
        "Another drive-agent (process {holder}) works on this data directory.",
        "另一个 drive-agent（进程 {holder}）正在使用此数据目录。",
    ),
    "busy.hint": (
        "Use that one, stop it, or set DRIVE_DATA_DIR to another directory.",
        "请使用它、停止它，或将 DRIVE_DATA_DIR 设为其他目录。",
    ),
    "runs_already": (
        "The service is running already at {url} (process {pid}).",
        "服务已在 {url} 运行（进程 {pid}）。",
    ),
    "runs_already.hint": (
        "Use it, stop it, or set DRIVE_DATA_DIR to another directory.",
        "请使用它、停止它，或将 DRIVE_DATA_DIR 设为其他目录。",
    ),
    "data_dir": ("The data directory {root} can't be used: {reason}.", "无法使用数据目录 {root}：{reason}。"),
    "data_dir.hint": (
        "Set DRIVE_DATA_DIR to a directory that you may write.",
        "请将 DRIVE_DATA_DIR 设为你可以写入的目录。",
    ),
    "not_started": ("The service could not start: {reason}", "服务无法启动：{reason}"),
    "no_reason": ("no reason is known.", "原因未知。"),
    "log": ("The details are in {path}.", "详情见 {path}。"),
    "no_item": (
        "{ref}: there is no such item, or it is not shared with you.",
        "{ref}：没有这一项，或者它没有共享给你。",
    ),
    "no_match": ("{pattern}: nothing matches.", "{pattern}：没有匹配的项。"),
    "no_such_file": ("{path}: {reason}.", "{path}：{reason}。"),
    "refused": ("{ref}: {reason}", "{ref}：{reason}"),
    "is_folder": ("{ref} is a folder.", "{ref} 是文件夹。"),
    "is_folder.hint": ("Add -r to take it with all that is in it.", "加上 -r 以连同其中的全部内容。"),
    "is_no_folder": ("{ref} is a file, not a folder.", "{ref} 是文件，不是文件夹。"),
    "is_no_file": ("{ref} is a folder, and has no content.", "{ref} 是文件夹，没有内容。"),
    "no_target_folder": ("The folder {ref} is not there.", "文件夹 {ref} 不存在。"),
    "no_target_folder.hint": ("Make it first.", "请先新建它。"),
    "local_exists": ("{path} is there already.", "{path} 已存在。"),
    "drive_exists": ("{ref} is there already.", "{ref} 已存在。"),
    "exists.hint": (
        "Add --on-conflict replace, or --on-conflict rename.",
        "请加上 --on-conflict replace 或 --on-conflict rename。",
    ),
    "not_for_terminals": ("{ref} is no text that a terminal can show.", "{ref} 不是终端能显示的文本。"),
    "no_local_folder": ("The folder {path} is not there.", "文件夹 {path} 不存在。"),
    "one_stream": ("- is one file: name one source for it.", "- 代表一个文件：请只给出一个来源。"),
    "name_needed": ("Standard input has no name.", "标准输入没有名称。"),
    "name_needed.hint": ("Name the file of the drive that takes it.", "请给出云盘中接收它的文件。"),
    "many_failed": ("{count} failed; the lines above say why.", "{count} 项失败；原因见上。"),
    "changed_meanwhile": ("{ref} changed while it was fetched.", "{ref} 在下载时被更改了。"),
    "again.hint": ("Try again.", "请重试。"),
    "got": ("{path}  {size}", "{path}  {size}"),
    "got_many": ("Fetched {files} files ({size}) into {path}.", "已下载 {files} 个文件（{size}）到 {path}。"),
    "resumed": ("Going on after {size}.", "从 {size} 处继续。"),
    "put": ("{path}  {size}, version {version}", "{path}  {size}，版本 {version}"),
    "getting": ("Fetching", "下载"),
    "putting": ("Sending", "上传"),
    "importing": ("Importing", "导入"),
    "reading": ("Reading for search", "为搜索读取"),
    "made_folder": ("Made {path}", "已新建 {path}"),
    "moved": ("{was} -> {path}", "{was} -> {path}"),
    "copied": ("Copied {was} -> {path}", "已复制 {was} -> {path}"),
    "trashed": ("In the trash: {path}", "已放入回收站：{path}"),
    "trashed_hint": ("{command}   to bring it back", "{command}   可恢复"),
    "trash_empty": ("The trash is empty.", "回收站是空的。"),
    "restored": ("Back: {path}", "已恢复：{path}"),
    "not_in_trash": ("{ref} is not in the trash.", "{ref} 不在回收站中。"),
    "several_in_trash": ("Several items of the trash are named {ref}.", "回收站中有多个名为 {ref} 的项。"),
    "several_in_trash.hint": (
        "Name one by its id, as `trash list` shows it.",
        "请用 `trash list` 显示的 id 指定其一。",
    ),
    "ask_empty": (
        "Delete {count} items of the trash for good? Nothing brings them back. y(es), n(o) ",
        "永久删除回收站中的 {count} 项？无法恢复。y(是)，n(否) ",
    ),
    "ask_delete": (
        "Delete {path} for good? Nothing brings it back. y(es), n(o) ",
        "永久删除 {path}？无法恢复。y(是)，n(否) ",
    ),
    "deleted": ("Deleted for good: {count}.", "已永久删除：{count} 项。"),
    "since_what": ("--since goes with --thread.", "--since 需与 --thread 一起使用。"),
    "undo_nothing": ("Nothing of this can be taken back.", "其中没有可以撤销的更改。"),
    "undo_preview": ("This would be taken back:", "将会撤销："),
    "undo_ask": ("Take it back? y(es), n(o) ", "要撤销吗？y(是)，n(否) "),
    "undo_done": ("Taken back:", "已撤销："),
    "undo_hint": ("{command}   to do it again", "{command}   可重做"),
    "redo_nothing": ("Nothing of this can be done again.", "其中没有可以重做的更改。"),
    "redo_preview": ("This would be done again:", "将会重做："),
    "redo_ask": ("Do it again? y(es), n(o) ", "要重做吗？y(是)，n(否) "),
    "redo_done": ("Done again:", "已重做："),
    "redo_hint": ("{command}   to take it back", "{command}   可撤销"),
    "left_as_is": ("left as it is: ", "保持不变："),
    "nothing_changed": ("Nothing was changed.", "没有更改任何内容。"),
    "no_answer": (
        "Nothing was changed: standard input ended without an answer.",
        "没有更改任何内容：标准输入结束时没有回答。",
    ),
    "no_answer.hint": ("Use --yes.", "请使用 --yes。"),
    "current": ("current", "当前"),
    "diff_cut": ("This is the beginning of a longer difference.", "这只是较长差异的开头。"),
    "same_texts": ("The texts are the same.", "文本相同。"),
    "version_back": (
        "{path} has the content of version {number} again, as version {version}.",
        "{path} 已恢复为版本 {number} 的内容，现为版本 {version}。",
    ),
    "shared": ("{email} is {role} of {path}.", "{email} 是 {path} 的 {role}。"),
    "unshared": ("{who} has no access to {path} by this share any more.", "{who} 不再因此共享而能访问 {path}。"),
    "nobody": ("Nobody else has access.", "没有其他人可以访问。"),
    "link_gone": ("The link {who} to {path} leads nowhere now.", "指向 {path} 的链接 {who} 已失效。"),
    "no_links": ("There are no links.", "没有链接。"),
    "link_terms": (
        "{role}; expires: {expires}; password: {password}; downloads: {downloads}",
        "{role}；到期：{expires}；密码：{password}；下载：{downloads}",
    ),
    "never": ("never", "永不"),
    "yes": ("yes", "有"),
    "no": ("no", "无"),
    "of_downloads": ("{done} of {most}", "{done} 次，共 {most} 次"),
    "ask_password": ("Password of the link: ", "链接的密码："),
    "opened": ("Opened in your browser: {url}", "已在浏览器中打开：{url}"),
    "open_this": ("Open this in a browser:", "请在浏览器中打开："),
    "once": ("It logs one browser in, once, within ten minutes.", "它让一个浏览器登录一次，十分钟内有效。"),
    "no_browser_service": ("No service runs that a browser could open.", "没有浏览器可以打开的服务在运行。"),
    "total": ("total", "合计"),
    "more_below": ("…", "…"),
    "no_threads": ("There are no conversations.", "没有对话。"),
    "no_threads.hint": ("Begin one.", "请开始一个。"),
    "nothing_found": ("Nothing was found.", "没有找到。"),
    "thread_renamed": ("{id}  {title}", "{id}  {title}"),
    "thread_deleted": ("Deleted: {id}. What was done in the drive stays.", "已删除：{id}。在云盘中所做的更改保留。"),
    "ask_delete_thread": (
        "Delete the conversation “{title}” for good? y(es), n(o) ",
        "永久删除对话“{title}”？y(是)，n(否) ",
    ),
    "empty_input": ("Standard input is empty.", "标准输入是空的。"),
    "empty_input.hint": ("Pipe the message in.", "请通过管道传入消息。"),
    "empty_folder": ("The folder is empty.", "文件夹是空的。"),
    "person": ("you", "你"),
    "assistant": ("assistant", "助手"),
    "unsupported_time": ("{text} is no time from now, as 12h, 7d or 4w.", "{text} 不是时长，例如 12h、7d 或 4w。"),
}


def language() -> Language:
    """Return the language that the terminal asks for."""
    named = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), "")
    return "zh" if named.lower().startswith("zh") else "en"


def text(code: str, **params: Any) -> str:
    """Return a sentence in the terminal's language."""
    return TEXTS[code][language() == "zh"].format(**params)


def hint_of(code: str, **params: Any) -> str:
    """Return what to do next after the sentence of that code; empty if there is nothing to say."""
    return text(f"{code}.hint", **params) if f"{code}.hint" in TEXTS else ""
