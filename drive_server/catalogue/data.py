"""Sentences on a data directory whose parts don't belong together, for the operator of the service."""

from typing import Final

DATA_HINT: Final = (
    "Nothing was removed. Put back the file that belongs here, or restore a backup (drive-agent restore). To start "
    "with what is there and keep all contents, set DRIVE_KEEP_EVERYTHING=true for one start.",
    "没有删除任何内容。请放回原来的文件，或恢复备份（drive-agent restore）。"
    "如要用现有文件启动并保留所有内容，请在一次启动中设置 DRIVE_KEEP_EVERYTHING=true。",
)

DATA: Final[dict[str, tuple[str, str]]] = {
    "data_no_database": (
        "The drive's database is missing, empty or new ({database}), but {part} has data.",
        "云盘的数据库缺失、为空或是新建的（{database}），但 {part} 中有数据。",
    ),
    "data_no_database.hint": DATA_HINT,
    "data_missing": (
        "{part} is missing or empty, but {database} needs it.",
        "{part} 缺失或为空，但 {database} 需要它。",
    ),
    "data_missing.hint": DATA_HINT,
    "data_foreign": (
        "{part} belongs to another drive than {database}.",
        "{part} 与 {database} 不属于同一个云盘。",
    ),
    "data_foreign.hint": DATA_HINT,
    "data_older": (
        "{older} is an older copy than {newer}.",
        "{older} 是比 {newer} 更旧的副本。",
    ),
    "data_older.hint": DATA_HINT,
    "part_emptied": ("{part} lacks the contents of files.", "{part} 中缺少文件的内容。"),
    "part_emptied.hint": (
        "Put the folder or bucket back, or restore it from its backup; nothing else is to be changed.",
        "请放回该文件夹或存储桶，或从备份恢复；其他内容无需更改。",
    ),
    "part_read_only": ("{part} may only be read, not written.", "{part} 只能读取，无法写入。"),
    "part_read_only.hint": (
        "Give the service's user the right to write it and its folder, and mount it for writing.",
        "请授予运行服务的用户对它及其文件夹的写入权限，并以可写方式挂载。",
    ),
    "data_swapped": (
        "{part} holds something else than its name says.",
        "{part} 的内容与其名称不符。",
    ),
    "data_swapped.hint": DATA_HINT,
    "data_no_signing_key": (
        "{database} has lost the key that signs links, downloads and cursors.",
        "{database} 中用于签名链接、下载和翻页标记的密钥已丢失。",
    ),
    "data_no_signing_key.hint": DATA_HINT,
}
