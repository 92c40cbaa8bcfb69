"""Parts of sentences, verbs, and the names of types."""

from typing import Final

WORDS: Final[dict[str, tuple[str, str]]] = {
    # Parts of sentences
    "commas": (", ", "，"),
    "semicolons": ("; ", "；"),
    "item": ("'{name}'", "“{name}”"),
    "root": ("the root folder", "根文件夹"),
    "file": ("file", "文件"),
    "folder": ("folder", "文件夹"),
    "role.viewer": ("viewer", "查看者"),
    "role.editor": ("editor", "编辑者"),
    "role.owner": ("owner", "所有者"),
    "holding": (" with {count} item{s} in it", "（含 {count} 项）"),
    "named": (" as '{name}'", "，名称为“{name}”"),
    "replacing": (", in place of the {kind} of that name, which goes to the trash", "，取代同名{kind}，后者移到回收站"),
    "of_version": (" (version {number})", "（第 {number} 个版本）"),
    "until": ("until {time} UTC", "有效期至 {time} UTC"),
    "with_password": ("with a password", "设有密码"),
    "without_password": ("without a password", "无密码"),
    "downloads": ("{count:,} download{s} at most", "最多下载 {count:,} 次"),
    "link_holders": ("anyone with the link", "任何拿到链接的人"),
    "address_holders": ("anyone with the address", "任何拿到地址的人"),
    "nothing": ("none", "无"),
    "left_not_undone": (" Left as it is now: {count} that can't be undone.", "另有 {count} 项保持不变，无法撤销。"),
    "left_not_redone": (" Left as it is now: {count} that can't be done again.", "另有 {count} 项保持不变，无法重做。"),
    "search_rebuilding": (
        "The search index is damaged and is being built anew: what files say may not be found yet, only their names.",
        "搜索索引已损坏，正在重建：暂时可能只能按名称找到文件，找不到其中的内容。",
    ),
    "search_degraded": (
        "The search index is damaged and could not be built anew: what files say may not be found, only their names.",
        "搜索索引已损坏且无法重建：可能只能按名称找到文件，找不到其中的内容。",
    ),
    "search_waiting_one": (
        "1 file is not indexed yet, so its text was not searched.",
        "还有 1 个文件尚未建立索引，未搜索其中的内容。",
    ),
    "search_waiting": (
        "{count} files are not indexed yet, so their text was not searched.",
        "还有 {count} 个文件尚未建立索引，未搜索其中的内容。",
    ),
    "search_cut": (
        "Of the files that other people share with you, the text of the {limit:,} that were changed last was searched: "
        "name a folder to search in the others.",
        "在他人与你共享的文件中，只搜索了最近更改的 {limit:,} 个文件的内容；要搜索其他文件，请指定文件夹。",
    ),
    "nothing_fits": ("Nothing in the drive fits these filters.", "云盘中没有符合这些条件的内容。"),
    "nothing_found": ("Nothing found for '{query}'.", "没有找到“{query}”。"),
    # Notices and mails
    "notice.share": ("{by} shared {item} with you as {role}.", "{by} 与你共享了{item}，你的角色是{role}。"),
    "notice.left": ("{by} left {item}, which you shared.", "{by} 退出了你共享的{item}。"),
    "mail.left.subject": ("{by} left {item}", "{by} 退出了{item}的共享"),
    "mail.left": (
        "{by} left {item}, which you shared. Nothing in it has changed: {url}\n",
        "{by} 退出了你共享的{item}，其中的内容没有变化：{url}\n",
    ),
    "mail.share.subject": ("{by} shared {item} with you", "{by} 与你共享了{item}"),
    "mail.share": (
        '{by} shared {item} with you as {role}.\n\nYou find it in your drive under "Shared with me": {url}\n',
        "{by} 与你共享了{item}，你的角色是{role}。\n\n可在你的云盘的“Shared with me”中找到：{url}\n",
    ),
    "mail.password.subject": ("Set a new password for your drive", "为你的云盘设置新密码"),
    "mail.password": (
        "Somebody, probably you, asked for a new password. Open this within an hour to set it:\n\n{url}\n\n"
        "If it was not you, do nothing.\n",
        "有人（很可能是你）申请了新密码。请在一小时内打开以下地址进行设置：\n\n{url}\n\n如果不是你，无需处理。\n",
    ),
    # Participles and verbs
    "copied": ("copied", "复制"),
    "moved": ("moved", "移动"),
    "renamed": ("renamed", "重命名"),
    "restored": ("restored", "恢复"),
    "taken_out": ("taken out", "取出"),
    "put_in_place": ("put in the place of another", "取代另一项"),
    "put_into_trash": ("put into the trash", "移到回收站"),
    "restore": ("Restore", "恢复"),
    "delete": ("Delete", "删除"),
    # The state of a file in the index
    "index.pending": ("The file waits to be read for search.", "文件正在等待读取，之后即可搜索其内容。"),
    "index.pending.hint": ("It is read by itself, mostly within a minute.", "系统会自动读取，通常在一分钟之内。"),
    "index.indexing": ("The file is being read for search.", "正在读取文件以便搜索。"),
    "index.indexing.hint": ("Wait a moment.", "请稍候。"),
    "index.ready": ("The text of the file can be searched.", "可以搜索文件的内容。"),
    "index.ready.hint": ("There is nothing to do.", "无需任何操作。"),
    "index.partly": ("The text of the file can be searched, but not all of it.", "可以搜索文件的内容，但不是全部。"),
    "index.partly.hint": (
        "What is missing may be pages without text, or what lies beyond the limits of its kind.",
        "缺少的可能是没有文字的页面，或超出此类文件限制的部分。",
    ),
    "index.unsupported": ("The file has no text that is read.", "文件中没有可读取的文字。"),
    "index.unsupported.hint": (
        "It is found by its name. Save it as PDF, Word or text to have its contents searched.",
        "可以按名称找到它。如需搜索内容，请另存为 PDF、Word 或文本文件。",
    ),
    "index.needs_password": ("The file is protected by a password, so it can't be read.", "文件受密码保护，无法读取。"),
    "index.needs_password.hint": (
        "It is found by its name. Upload it without the password to have its contents searched.",
        "可以按名称找到它。如需搜索内容，请上传没有密码的版本。",
    ),
    "index.needs_ocr": ("The file is a picture of text, which is not read yet.", "文件是文字的图像，尚未识别。"),
    "index.needs_ocr.hint": (
        "Its words are read by themselves, after all other files.",
        "系统会在读完其他文件之后自动识别其中的文字。",
    ),
    "index.failed": (
        "The file could not be read: it may be damaged, or too large.",
        "无法读取文件：可能已损坏，或过大。",
    ),
    "index.failed.hint": (
        "Open it on your device. If it is fine there, save it anew and upload it again.",
        "请在您的设备上打开它。如果正常，请重新保存并再次上传。",
    ),
    # Types of items, as names of folders
    "type.document": ("Documents", "文档"),
    "type.spreadsheet": ("Spreadsheets", "表格"),
    "type.presentation": ("Presentations", "演示文稿"),
    "type.pdf": ("PDF", "PDF 文档"),
    "type.image": ("Images", "图片"),
    "type.audio": ("Audio", "音频"),
    "type.video": ("Videos", "视频"),
    "type.archive": ("Archives", "压缩包"),
    "type.mail": ("Mail", "邮件"),
    "type.code": ("Code", "代码"),
    "type.text": ("Text", "文本"),
    "type.folder": ("Folders", "文件夹"),
    "type.other": ("Other", "其他"),
}
