"""The sentences of `import` of a folder or file."""

from typing import Final

IMPORTS: Final[dict[str, tuple[str, str]]] = {
    "importing": ("Importing", "导入"),
    "not_imported": (
        "{count} could not be imported; the list above says why.",
        "{count} 项无法导入；原因见上。",
    ),
    "import_not_waiting": (
        "Not waiting any longer; the service goes on reading.",
        "不再等待；服务会继续读取。",
    ),
    "imported": (
        "Imported {files} ({size}) into {target} in {seconds} s ({rate}); {folders} made.",
        "已将 {files}（{size}）导入 {target}，用时 {seconds} 秒（{rate}）；新建 {folders}。",
    ),
    "imported_rate": ("{files} files/s, {size}/s", "每秒 {files} 个文件，{size}/s"),
    "imported_as": ("imported as {name}", "导入为 {name}"),
    "files": ("{count} files", "{count} 个文件"),
    "files.one": ("{count} file", "{count} 个文件"),
    "folders": ("{count} folders", "{count} 个文件夹"),
    "folders.one": ("{count} folder", "{count} 个文件夹"),
    "unchanged": (
        "{files} unchanged: already there with this content.",
        "{files}没有变化：已有相同内容。",
    ),
    "other_content": ("was there with other content", "原有文件内容不同"),
    "new_version_list": ("New versions of files that were there:", "已有文件的新版本："),
    "renamed_list": ("Under another name:", "使用了其他名称："),
    "left_out_list": ("Left out:", "未导入："),
    "not_imported_list": ("NOT imported:", "导入失败："),
    "unread_list": (
        "In the drive, but their text could not (or not wholly) be read:",
        "已在云盘中，但文字无法（完全）读取：",
    ),
    "unread_more": (
        "… and {count} more in the drive; `drive-agent index --status` counts them.",
        "……云盘中还有 {count} 个；`drive-agent index --status` 可查看数量。",
    ),
    # Why a file or folder is not imported
    "not_importable": ("{path} can't be imported: {reason}.", "无法导入 {path}：{reason}。"),
    "is_link": ("a symbolic link (links are not followed)", "符号链接（不跟随链接）"),
    "is_special": (
        "neither a file nor a folder (socket, pipe or device)",
        "既不是文件也不是文件夹（套接字、管道或设备）",
    ),
    "is_own_data": ("the drive's own data", "云盘自身的数据"),
    "no_permission": ("no permission to read it", "没有读取权限"),
    "file_gone": ("it is not there (any more)", "不存在（或已不在）"),
    "not_a_folder": ("it is not a folder", "不是文件夹"),
    "file_changing": ("it changed while it was read", "读取时被更改了"),
    "file_stopped": ("the import was stopped", "导入已停止"),
    "into_file": (
        "{path} is a file, so nothing can be imported into it.",
        "{path} 是文件，无法导入到其中。",
    ),
    "no_import_target": ("The import has no target folder.", "导入没有目标文件夹。"),
    "folder_not_made": ("its folder could not be made: {reason}", "无法新建其文件夹：{reason}"),
}
