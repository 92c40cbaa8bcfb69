"""The parts that readers leave out of a file, by kind."""

from typing import Final

OMISSIONS: Final[dict[str, tuple[str, str]]] = {
    "omitted": ("Not read: {things}.", "未读取：{things}。"),
    "omitted.repeated": ("Told once only: {things}.", "仅保留一次：{things}。"),
    "omitted.doubtful": ("Not certain: {things}.", "不确定：{things}。"),
    "omitted.unsearched_part": ("Not searched: {things}.", "未纳入搜索：{things}。"),
    "omitted.attachment": ("{count} attachment{s}", "{count} 个附件"),
    "omitted.blank_page": ("{count} page{s} without text", "{count} 页没有文字"),
    "omitted.cell": ("{count} cell{s} beyond a limit", "{count} 个超出限制的单元格"),
    "omitted.character": ("{count} character{s} that could not be decoded", "{count} 个无法解码的字符"),
    "omitted.chart": ("{count} chart{s}", "{count} 个图表"),
    "omitted.comment": ("{count} comment{s}", "{count} 条批注"),
    "omitted.damage": ("whether the damaged file is complete", "文件已损坏，内容是否完整"),
    "omitted.drawing": ("{count} drawing{s}", "{count} 个图形"),
    "omitted.embedded": ("{count} embedded object{s} or file{s}", "{count} 个嵌入的对象或文件"),
    "omitted.encoding": ("the encoding of the text", "文字编码"),
    "omitted.encrypted": ("{count} encrypted text{s}", "{count} 段加密的文字"),
    "omitted.equation": ("{count} equation{s}", "{count} 个公式（数学）"),
    "omitted.error": ("{count} cell{s} with an error such as #DIV/0!", "{count} 个含错误（如 #DIV/0!）的单元格"),
    "omitted.form_field": ("{count} form field{s}", "{count} 个表单域"),
    "omitted.formula": ("{count} formula{s} not calculated", "{count} 个未计算的公式"),
    "omitted.frame": ("{count} further frame{s} of an animation", "动画的另外 {count} 帧"),
    "omitted.included_part": ("{count} included part{s}", "{count} 个嵌入的文档部分"),
    "omitted.length": ("the text after the first {count:,} characters", "前 {count:,} 个字符之后的文字"),
    "omitted.margin": ("{count} line{s} of repeated page heads and feet", "{count} 行重复的页眉和页脚"),
    "omitted.page": ("{count} page{s}", "{count} 页"),
    "omitted.picture": ("{count} picture{s} without text", "{count} 张没有文字的图片"),
    "omitted.scan": ("{count} page{s} waiting for OCR", "{count} 页等待文字识别"),
    "omitted.sheet": ("{count} sheet{s}", "{count} 个工作表"),
    "omitted.unsearched": ("the text after the first {count:,} characters", "前 {count:,} 个字符之后的文字"),
}
