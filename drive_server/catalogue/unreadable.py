"""The reasons why a file has no text, by kind. The index stores these codes."""

from typing import Final

UNREADABLE: Final[dict[str, tuple[str, str]]] = {
    "not_readable": ("No text can be read. {reason}", "无法读取文字。{reason}"),
    "not_readable.hint": ("Download the file instead.", "请改为下载该文件。"),
    "unreadable.archive": (
        "The file is an archive; what is packed in it is not read.",
        "该文件是压缩包，其中的内容不会被读取。",
    ),
    "unreadable.compound": ("The file is a compound file of an unknown kind.", "该文件是类型未知的复合文件。"),
    "unreadable.copy_protected": (
        "The book is protected against copying (DRM).",
        "该电子书受版权保护（DRM），无法读取。",
    ),
    "unreadable.crash": (
        "The file makes its reader crash; it is damaged, too complex, or needs too much memory.",
        "读取该文件时程序崩溃：文件已损坏、过于复杂，或需要过多内存。",
    ),
    "unreadable.damaged": (
        "The file is damaged, or not what its name says.",
        "文件已损坏，或其内容与文件名不符。",
    ),
    "unreadable.levels": (
        "The document is nested more than {count:,} levels deep.",
        "文档的嵌套超过 {count:,} 层。",
    ),
    "unreadable.mail": (
        "The file is damaged, or not what its name says: it has no headers of a mail.",
        "文件已损坏，或其内容与文件名不符：其中没有邮件头。",
    ),
    "unreadable.memory": (
        "The file needs more memory than reading one may take.",
        "读取该文件所需的内存超出了限制。",
    ),
    "unreadable.no_text_part": (
        "The document is damaged: it does not say where its text is.",
        "文档已损坏：其中没有指明正文的位置。",
    ),
    "unreadable.not_text": (
        "The file is not text, or its encoding is not known.",
        "该文件不是文本，或其编码未知。",
    ),
    "unreadable.notebook": (
        "The file is damaged, or not what its name says: it is no notebook.",
        "文件已损坏，或其内容与文件名不符：它不是笔记本文件。",
    ),
    "unreadable.old_word": (
        "This is a document of Word 95 or older; save it in the new format.",
        "这是 Word 95 或更早版本的文档，请另存为新格式。",
    ),
    "unreadable.parts": ("The document has more than {count:,} parts.", "文档包含超过 {count:,} 个部分。"),
    "unreadable.password": ("The file is protected by a password.", "该文件受密码保护。"),
    "unreadable.picture_format": (
        "Images of this kind are not read, or the image is damaged.",
        "不支持读取这种图片，或图片已损坏。",
    ),
    "unreadable.pixels": ("The image has more than {count:,} pixels.", "图片超过 {count:,} 像素。"),
    "unreadable.seconds": (
        "Reading the file took longer than {count:,} second{s}.",
        "读取该文件所用的时间超过 {count:,} 秒。",
    ),
    "unreadable.size": (
        "The document has more than {count:,} bytes.",
        "文档超过 {count:,} 字节。",
    ),
    "unreadable.small_picture": (
        "The image is too small to hold words.",
        "图片太小，不可能含有文字。",
    ),
    "unreadable.unpacked": (
        "The document unpacks to more than {count:,} bytes.",
        "文档解压后超过 {count:,} 字节。",
    ),
}
