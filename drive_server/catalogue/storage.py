"""Sentences of failures of the storage: contents, the search index, databases."""

from typing import Final

STORAGE: Final[dict[str, tuple[str, str]]] = {
    "content_missing": ("The content of this file is missing in the store.", "该文件的内容在存储中缺失。"),
    "content_missing.hint": ("Restore the blob store from its backup.", "请从备份恢复内容存储。"),
    "content_failure": (
        "The content could not be stored or read; nothing of the request was kept.",
        "无法保存或读取内容；该请求没有留下任何更改。",
    ),
    "content_failure.hint": ("Check that the disk is not full, then try again.", "请检查磁盘是否已满，然后重试。"),
    "index_failure": ("The search index can't be read or written.", "无法读取或写入搜索索引。"),
    "index_failure.hint": (
        "Check that the disk is not full, then try again.",
        "请检查磁盘是否已满，然后重试。",
    ),
    "index_damaged": ("The search index is damaged.", "搜索索引已损坏。"),
    "index_damaged.hint": (
        "It is built anew by itself; `drive-agent index --rebuild` does so at once.",
        "索引会自动重建；也可运行 `drive-agent index --rebuild` 立即重建。",
    ),
    "contents_away": (
        "The contents of files can't be reached at the moment; nothing of the request was kept.",
        "暂时无法访问文件内容；该请求没有留下任何更改。",
    ),
    "contents_away.hint": ("Try again in a few seconds.", "请过几秒再试。"),
    "database_away": (
        "The database can't be reached at the moment; nothing of the request was kept.",
        "暂时无法连接数据库；该请求没有留下任何更改。",
    ),
    "database_away.hint": ("Try again in a few seconds.", "请过几秒再试。"),
    "answer_lost": (
        "The connection to the database broke before its answer; the request may have been kept.",
        "与数据库的连接在收到确认前中断；该请求可能已经生效。",
    ),
    "answer_lost.hint": (
        "Send the same request with the same idempotency key again: it is done once. Without a key, look first.",
        "请用同一个幂等键重发同一请求：只会执行一次。没有幂等键时，请先查看是否已生效。",
    ),
    "database_server_full": (
        "There is no room for the database on its server; nothing of the request was kept.",
        "数据库服务器磁盘空间不足；该请求没有留下任何更改。",
    ),
    "database_server_full.hint": (
        "Make room on the disk of the database's server, then try again.",
        "请清理数据库服务器的磁盘空间后重试。",
    ),
    "database_damaged": ("The database {file} is damaged.", "数据库 {file} 已损坏。"),
    "database_damaged.hint": (
        "Stop the service and restore a backup with `drive-agent restore`; `--force` keeps the damaged data beside it.",
        "请停止服务，用 `drive-agent restore` 恢复备份；加 `--force` 会保留损坏的数据。",
    ),
    "database_foreign": (
        "The file {file} is not a database of this program: it was overwritten or damaged.",
        "文件 {file} 不是本程序的数据库：它已被覆盖或损坏。",
    ),
    "database_foreign.hint": (
        "Stop the service and restore a backup with `drive-agent restore`; `--force` keeps the damaged data beside it.",
        "请停止服务，用 `drive-agent restore` 恢复备份；加 `--force` 会保留损坏的数据。",
    ),
    "database_full": (
        "There is no room on the disk for the database {file}; nothing of the request was kept.",
        "磁盘空间不足，无法写入数据库 {file}；该请求没有留下任何更改。",
    ),
    "database_full.hint": ("Make room on the disk, then try again.", "请清理磁盘空间后重试。"),
    "database_read_only": (
        "The database {file} may only be read, not written; nothing of the request was kept.",
        "数据库 {file} 只能读取，无法写入；该请求没有留下任何更改。",
    ),
    "database_read_only.hint": (
        "Give the service's user the right to write the file and its folder.",
        "请授予运行服务的用户对该文件及其文件夹的写入权限。",
    ),
    "database_unreadable": (
        "The disk failed while it read or wrote the database {file}; nothing of the request was kept.",
        "读写数据库 {file} 时磁盘出错；该请求没有留下任何更改。",
    ),
    "database_unreadable.hint": ("Check the disk, then try again.", "请检查磁盘后重试。"),
    "database_unopened": (
        "The database {file} can't be opened: it may not be read, or it or a file beside it is a folder.",
        "无法打开数据库 {file}：没有读取权限，或者它或旁边的文件是一个文件夹。",
    ),
    "database_unopened.hint": (
        "Check what is at its place in the data directory, and who may read it.",
        "请检查数据目录中该位置的内容及其读取权限。",
    ),
    "database_busy": (
        "Another program holds the database {file}; nothing of the request was kept.",
        "其他程序占用了数据库 {file}；该请求没有留下任何更改。",
    ),
    "database_busy.hint": ("Close the other program, then try again.", "请关闭其他程序后重试。"),
    "database_failure": (
        "The database could not store or read this; nothing of the request was kept.",
        "数据库无法保存或读取；该请求没有留下任何更改。",
    ),
    "service_runs_at": ("The service runs at {url}.", "服务正在 {url} 运行。"),
    "database_failure.hint": (
        "Try again; the service's log says more.",
        "请重试；服务的日志中有更多信息。",
    ),
}
