"""The sentences of `export`, of `import` of an export, of `backup`, `restore` and `migrate`, in both languages."""

from typing import Final

WHOLE_DRIVE: Final[dict[str, tuple[str, str]]] = {
    # Export
    "no_export": ("This is no export of drive-agent, or not a whole one.", "这不是 drive-agent 的完整导出。"),
    "no_export.hint": ("`drive-agent export` makes one.", "可用 `drive-agent export` 导出。"),
    "export_newer": (
        "This export has the schema version {version}, and this program reads up to {known}.",
        "此导出的格式版本为 {version}，本程序最高支持 {known}。",
    ),
    "export_newer.hint": (
        "Import it with the version of drive-agent that made it, or a newer one.",
        "请使用导出时的 drive-agent 版本或更新的版本导入。",
    ),
    "export_failed": ("The export can't be written: {reason}.", "无法写入导出：{reason}。"),
    "export_failed.hint": (
        "Run the same command again when there is room: it goes on where it stopped.",
        "有空间后请再次运行同一命令：它会从中断处继续。",
    ),
    "export_place": ("{place} has something else in it than an export.", "{place} 中有导出以外的内容。"),
    "export_place.hint": ("Name a new folder, or an empty one.", "请指定新文件夹或空文件夹。"),
    "export_content": (
        "A content arrived with another SHA-256 than it has in the drive.",
        "收到的内容与云盘中的 SHA-256 不符。",
    ),
    "export_content.hint": (
        "Run the export again; `drive-agent doctor` checks the service.",
        "请再次运行导出；`drive-agent doctor` 可检查服务。",
    ),
    "export_stopped": ("The export was stopped.", "导出已停止。"),
    "exporting": ("Exporting", "正在导出"),
    "checking": ("Checking", "正在检查"),
    "exported": (
        "Exported {files} files and {folders} folders ({size}), {threads} threads and {memories} memories to {place} "
        "in {seconds} s.",
        "已将 {files} 个文件、{folders} 个文件夹（{size}）、{threads} 个对话和 {memories} 条记忆导出到 {place}，"
        "用时 {seconds} 秒。",
    ),
    "exported_trash": ("{count} of the items are from the trash.", "其中 {count} 项来自回收站。"),
    "exported_before": ("{count} contents were there already.", "{count} 个内容原已存在。"),
    "exported_next": (
        "`drive-agent export --verify {place}` checks it, `drive-agent import {place}` restores it.",
        "`drive-agent export --verify {place}` 可检查，`drive-agent import {place}` 可恢复。",
    ),
    "deep": (
        "{count} items were too deep for some disks; they are in the folder `{folder}`.",
        "{count} 项层级过深，部分磁盘无法存放；已放入文件夹 `{folder}`。",
    ),
    "orphan": (
        "The folder of an item was gone while the drive was read: {item} is at the top.",
        "读取云盘时某项所在的文件夹已不在：{item} 放在最上层。",
    ),
    "gone_meanwhile": ("{path} was deleted for good meanwhile.", "{path} 在此期间已被永久删除。"),
    # The check of an export
    "missing_file": ("{path} is missing.", "{path} 缺失。"),
    "unreadable_file": ("{path} can't be read: {reason}.", "无法读取 {path}：{reason}。"),
    "changed_file": ("{path} was changed.", "{path} 已被改动。"),
    "disagree": ("{path}: {one} and {other} do not agree.", "{path}：{one} 与 {other} 不一致。"),
    "missing_folder": (
        "The folder of the item {item} is missing in {manifest}.",
        "{manifest} 中缺少 {item} 所在的文件夹。",
    ),
    "wrong_count": (
        "{manifest} has {count} {what}, and says {said}.",
        "{manifest} 中有 {count} 个 {what}，但记录为 {said}。",
    ),
    "export_damaged": ("The export is damaged: {count} problems.", "导出已损坏：{count} 个问题。"),
    "export_damaged.hint": ("Export again, to the same place.", "请再次导出到同一位置。"),
    "export_whole": (
        "The export of {time} UTC is whole: {files} files ({size}) with their hashes.",
        "{time} UTC 的导出完整：{files} 个文件（{size}）及其校验值均相符。",
    ),
    "and_more": ("… and {count} more", "……还有 {count} 个"),
    # Import of an export
    "restoring": ("Restoring", "正在恢复"),
    "import_stopped": ("The import was stopped.", "导入已停止。"),
    "no_content": ("its content is not in the export", "导出中没有它的内容"),
    "other_size": (
        "its content in the export has another size than the manifest says",
        "导出中它的内容大小与清单不符",
    ),
    "no_account": ("nobody here has this address", "此处没有人使用该地址"),
    "drive_restored": (
        "Restored {items} items, {threads} threads and {memories} memories into {place} in {seconds} s.",
        "已将 {items} 项、{threads} 个对话和 {memories} 条记忆恢复到 {place}，用时 {seconds} 秒。",
    ),
    "restored_before": (
        "{count} were there already, from an earlier import of this export.",
        "{count} 项在此前导入时已恢复。",
    ),
    "new_links": (
        "Links have new addresses here: the old ones lead to the old drive.",
        "链接在这里有新的地址：旧地址指向旧的云盘。",
    ),
    "left_list": ("Not restored:", "没有恢复："),
    "failed_list": ("Failed:", "失败："),
    "changed_list": (
        "There from an earlier import, changed since, and left as it is:",
        "此前已导入、之后有改动、保持不变：",
    ),
    "other_list": ("Not as in the export:", "与导出不符："),
    "restored_checked": (
        "Checked: names, folders, versions, hashes, times, shares, links and stars are those of the export.",
        "已核对：名称、文件夹、版本、校验值、时间、共享、链接和星标均与导出一致。",
    ),
    "restored_in_part": (
        "The import is not whole: {count} problems, listed above.",
        "导入不完整：{count} 个问题，见上。",
    ),
    "restored_in_part.hint": (
        "Run the same command again: what is there is not made twice.",
        "请再次运行同一命令：已有的内容不会重复。",
    ),
    "a_thread": ("the thread {title}", "对话 {title}"),
    "the_memories": ("what was remembered", "记忆"),
    "no_memory_room": ("as many memories as can be kept are there already", "记忆数量已达上限"),
    "differs": ("{name}: different: {what}", "{name}：不同之处：{what}"),
    "what_name": ("name", "名称"),
    "what_folder": ("folder", "文件夹"),
    "what_content": ("content or versions", "内容或版本"),
    "what_time": ("times", "时间"),
    "what_trash": ("place in the trash", "回收站状态"),
    "what_star": ("star", "星标"),
    "what_role": ("roles of people", "他人的角色"),
    "what_link": ("links", "链接"),
    "not_there": ("{count} items are not there any more", "{count} 项已不在"),
    # Backups
    "backing_up": ("Backing up", "正在备份"),
    "backup_done": (
        "Backed up to {place}: {blobs} contents ({size}), of which {copied} are new, in {seconds} s.",
        "已备份到 {place}：{blobs} 个内容（{size}），其中 {copied} 个是新的，用时 {seconds} 秒。",
    ),
    "backup_secrets": (
        "{root} holds the access token, the key of stored secrets and the settings: whoever reads it has the drive. "
        "Only you may read it there; keep copies as safe.",
        "{root} 中有访问令牌、密钥文件和设置：能读取它的人即可访问云盘。目前仅您可以读取；请同样妥善保管其副本。",
    ),
    "backup_server": (
        "{setting} names a database server, and the other parts of the drive are files here.",
        "{setting} 指定了数据库服务器，而云盘的其他部分是本机文件。",
    ),
    "backup_server.hint": (
        "Back it up with pg_dump, or with your provider's snapshots, first; then the contents of files.",
        "请先用 pg_dump 或服务商的快照备份数据库，再备份文件内容。",
    ),
    "backup_objects": (
        "DRIVE_BLOB_URL names a store of objects, and the drive's database is a file here.",
        "DRIVE_BLOB_URL 指定了对象存储，而云盘的数据库是本机文件。",
    ),
    "backup_objects.hint": (
        "Use the store's own versioning or replication, or `rclone copy`; copy the database before the objects.",
        "请使用存储自带的版本控制或复制功能，或用 `rclone copy`；请先备份数据库，再复制对象。",
    ),
    "backup_no_program": (
        "{program} is not installed here.",
        "本机未安装 {program}。",
    ),
    "backup_no_program.hint": (
        "Install PostgreSQL's client programs, of the server's version or a newer one, and put them on the PATH.",
        "请安装 PostgreSQL 客户端程序（版本不低于服务器），并将其加入 PATH。",
    ),
    "backup_program_failed": ("{program} failed: {reason}", "{program} 运行失败：{reason}"),
    "backup_program_failed.hint": (
        "Check that the database can be reached, and that the program is not older than the server.",
        "请检查数据库能否连接，以及该程序的版本是否低于服务器。",
    ),
    "restore_needs_server": (
        "This is a backup of PostgreSQL, and {setting} names no such database.",
        "这是 PostgreSQL 的备份，而 {setting} 未指定此类数据库。",
    ),
    "restore_needs_server.hint": (
        "Make an empty database, and set {setting} to its URL.",
        "请创建一个空数据库，并将 {setting} 设为其地址。",
    ),
    "restore_database_full": ("The database {database} is not empty.", "数据库 {database} 不是空的。"),
    "restore_database_full.hint": (
        "Make an empty database and name it in the settings: a restore never mixes two drives.",
        "请创建一个空数据库并在设置中指定：恢复不会把两个云盘混在一起。",
    ),
    "backup_nothing": ("There is nothing to back up in {root}.", "{root} 中没有可备份的内容。"),
    "backup_nothing.hint": (
        "Set DRIVE_DATA_DIR to the service's data directory.",
        "请将 DRIVE_DATA_DIR 设为服务的数据目录。",
    ),
    "backup_inside": ("{root} and the data directory lie in one another.", "{root} 与数据目录互相包含。"),
    "backup_inside.hint": (
        "Name a folder elsewhere, best on another disk.",
        "请指定其他位置的文件夹，最好在另一块磁盘上。",
    ),
    "backup_other": ("Another backup to this folder does not end.", "另一个到此文件夹的备份一直没有结束。"),
    "backup_collector": (
        "The service cleans up, and does not end with it.",
        "服务正在清理，一直没有结束。",
    ),
    "backup_collector.hint": ("Try again later.", "请稍后再试。"),
    "backup_failed": ("The backup failed: {reason}.", "备份失败：{reason}。"),
    "backup_failed.hint": (
        "What was there before is as it was; run it again.",
        "之前的备份没有变化；请再次运行。",
    ),
    "backup_blob": (
        "The content {sha256} is damaged or missing in the data directory.",
        "数据目录中的内容 {sha256} 已损坏或缺失。",
    ),
    "backup_blob.hint": (
        "Check the disk. An earlier backup may have it: `drive-agent backup --verify` says so.",
        "请检查磁盘。较早的备份中可能有它：可用 `drive-agent backup --verify` 查看。",
    ),
    "backup_none": ("There is no whole backup in {root}.", "{root} 中没有完整的备份。"),
    "backup_none.hint": ("`drive-agent backup` makes one.", "可用 `drive-agent backup` 备份。"),
    "backup_newer": (
        "The backup {name} was made by a newer version of drive-agent.",
        "备份 {name} 由更新版本的 drive-agent 生成。",
    ),
    "backup_newer.hint": ("Install that version.", "请安装该版本。"),
    "backup_malformed": (
        "The backup {name} lists files that no backup has, or is a link.",
        "备份 {name} 列出了备份中不会有的文件，或者是一个链接。",
    ),
    "backup_malformed.hint": (
        "Nothing was written. Don't use it: somebody changed it. Restore another one with --generation.",
        "没有写入任何内容。它已被人改动，请勿使用；可用 --generation 恢复另一个备份。",
    ),
    "list_too_long": (
        "{name} is larger than this program reads: {limit} in one piece.",
        "{name} 过大：本程序一次最多读取 {limit}。",
    ),
    "list_too_long.hint": ("Export the drive again.", "请重新导出云盘。"),
    "backup_damaged": ("The backup is damaged: {count} problems.", "备份已损坏：{count} 个问题。"),
    "backup_damaged.hint": ("Make a new one, to a new folder.", "请备份到新的文件夹。"),
    "backup_whole": ("{name} is whole: {blobs} contents ({size}).", "{name} 完整：{blobs} 个内容（{size}）。"),
    "backup_file": ("{name} is missing, or was changed.", "{name} 缺失或已被改动。"),
    "backup_database": ("{name} is damaged: {reason}.", "{name} 已损坏：{reason}。"),
    "foreign_key": ("foreign key of {table}", "{table} 的外键"),
    "backup_content": ("The content {sha256} is missing, or was changed.", "内容 {sha256} 缺失或已被改动。"),
    # Restore
    "restore_which": ("There is no such backup. There are: {names}.", "没有这个备份。现有：{names}。"),
    "restore_newer": (
        "This backup was made by a newer version of drive-agent ({version}), and can't be read by this one.",
        "此备份由更新版本的 drive-agent（{version}）生成，当前版本无法读取。",
    ),
    "restore_newer.hint": ("Install that version, and restore again.", "请安装该版本后再恢复。"),
    "restore_running": ("A service runs on {target}.", "{target} 上有服务在运行。"),
    "restore_running.hint": ("Stop it, or name another folder with --into.", "请停止它，或用 --into 指定其他文件夹。"),
    "restore_full": ("{target} is not empty.", "{target} 不是空的。"),
    "restore_full.hint": (
        "Name another folder with --into, or use --force: what is there gets another name, and nothing is deleted.",
        "请用 --into 指定其他文件夹，或使用 --force：原有内容将改名保留，不会删除。",
    ),
    "restore_failed": ("The backup could not be restored: {reason}.", "无法恢复备份：{reason}。"),
    "restore_failed.hint": ("Nothing was changed; run it again.", "没有做任何更改；请再次运行。"),
    "restore_blob": (
        "The content {sha256} of the backup is damaged or missing.",
        "备份中的内容 {sha256} 已损坏或缺失。",
    ),
    "restore_blob.hint": (
        "Nothing was changed. Restore another generation: `drive-agent backup --verify` says which are whole.",
        "没有做任何更改。请恢复另一个备份：`drive-agent backup --verify` 可查看哪些完整。",
    ),
    "restore_done": (
        "Restored the backup {name} to {target}: {blobs} contents ({size}), in {seconds} s.",
        "已将备份 {name} 恢复到 {target}：{blobs} 个内容（{size}），用时 {seconds} 秒。",
    ),
    "restore_moved": ("What was there is in {moved} now.", "原有内容现位于 {moved}。"),
    "backup_newest": (
        "The newest backup is {name}. This restores it and keeps what is there beside it: {command}",
        "最新的备份是 {name}。用以下命令恢复（现有内容会保留在旁边）：{command}",
    ),
    "backup_unknown": (
        "No backup of this data directory is known. If there is one: drive-agent restore FOLDER --force",
        "没有找到此数据目录的备份记录。如果有备份，请运行：drive-agent restore 文件夹 --force",
    ),
    "restore_next": (
        "Keys, tokens and links work as they did. Start the service: it reads all files again for search.",
        "密钥、令牌和链接照常有效。请启动服务：它会重新读取所有文件以供搜索。",
    ),
    # Migration
    "migrate_needs_server": ("{setting} names no PostgreSQL database.", "{setting} 未指定 PostgreSQL 数据库。"),
    "migrate_needs_server.hint": (
        "Make an empty database, and set {setting} to its URL: docs/POSTGRESQL.md has an example.",
        "请创建一个空数据库，并将 {setting} 设为其地址：docs/POSTGRESQL.md 中有示例。",
    ),
    "migrate_key": (
        "AGENT_SECRETS_KEY is not the key of this data directory: stored secrets could not be read with it.",
        "AGENT_SECRETS_KEY 不是此数据目录的密钥：用它无法读取已保存的机密。",
    ),
    "migrate_key.hint": ("Set it to the content of {file}.", "请将其设为 {file} 的内容。"),
    "migrate_differs": (
        "After the copy the database differs from the files in this part: {what}.",
        "复制后，数据库与文件的这一部分不一致：{what}。",
    ),
    "migrate_differs.hint": (
        "The files are unchanged. Make an empty database, and run it again.",
        "文件没有改动。请创建一个空数据库后再次运行。",
    ),
    "migrate_failed": ("The data could not be moved: {reason}.", "无法迁移数据：{reason}。"),
    "migrate_failed.hint": (
        "The files are unchanged. Run it again when the database and the bucket can be reached.",
        "文件没有改动。请在数据库和存储桶可以访问时再次运行。",
    ),
    "migrate_done": (
        "Copied and compared {rows} rows, {threads} conversations, {memories} stored values and {blobs} contents "
        "({size}), in {seconds} s.",
        "已复制并核对 {rows} 行、{threads} 个对话、{memories} 个存储值和 {blobs} 个内容（{size}），用时 {seconds} 秒。",
    ),
    "migrate_next": (
        "Start the service with these settings: it reads all files again for search. The databases in {source} are not "
        "used any more, and were not changed.",
        "请用这些设置启动服务：它会重新读取所有文件以供搜索。{source} 中的数据库不再使用，也没有改动。",
    ),
}
"""By code; `.hint` names the next step."""
