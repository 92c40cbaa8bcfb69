"""The one table of people's requests: each row an action, how it is said in English and in Chinese, and examples.

Patterns read a message after `graph.routing.wording`: one clause, lower case, without courtesies, with names as
FILE, QUOTE and MAIL. English ones begin at the start of the clause. Chinese verbs may begin it or stand after the
object of 把; endings are verbs that no noun contains, which may also stand at the end of "X 改名为 Y"; forms fit
anywhere. The first row that fits counts, so the narrow rows stand above the wide ones.
"""

from dataclasses import dataclass
from typing import Final, Literal

from graph.state import AgentName

Group = Literal["organise", "edit", "look", "inspect", "talk", "other"]

THING: Final = (
    r"(?:FILE|QUOTE|\bfiles?\b|\bfolders?\b|\bdocuments?\b|\bdocs?\b|\btrash\b|\bbin\b|文件|文档|目录|回收站|垃圾桶)"
)
"""Things that can be organised."""
TEXTS: Final = (
    r"(?:files?|docs?|documents?|notes?|reports?|contracts?|invoices?|minutes|slides|pdfs?|emails?|letters?"
    r"|polic(?:y|ies)"
    r"|papers?|presentations?|spreadsheets?|memos?|agreements?|leases?|handbook|manual|guide(?:lines)?|receipts?"
    r"|transcripts?|cv|resume)"
)
TEXTS_ZH: Final = (
    r"(?:文件|文档|材料|资料|报告|合同|合约|租约|条款|年报|季报|月报|周报|报表|笔记|邮件|信|纪要|记录|手册|规定|制度|票据|发票|方案|论文|文章|协议"
    r"|简历|总结|指南|说明书|教程|清单|名单|账单|报价单?|幻灯片|演示文稿|讲稿)"
)
ASKS_ZH: Final = r"(?:什么|怎么|怎样|如何|多少|几|哪|谁|吗|有没有|是否|啥)"


@dataclass(frozen=True, slots=True)
class Row:
    """One action: `leads` takes it, `group` says whether and where it changes something; the rest are patterns."""

    action: str
    group: Group
    leads: AgentName
    english: str
    verbs: str = ""
    endings: str = ""
    forms: str = ""
    examples: tuple[str, ...] = ()


DRIVE: Final[AgentName] = "drive_agent"
DOCUMENT: Final[AgentName] = "document_agent"
SEARCH: Final[AgentName] = "search_agent"

_VERBS: Final = (
    "add append archive bin book cancel change clone compare compress condense copy correct create delete discard"
    " download drag duplicate edit email empty erase export file find fix forward get give grant insert invite list"
    " locate look mail make merge move notify open order polish print proofread put read recover redo remind remove"
    " rename replace restore revert revoke rewrite rephrase save search send set share shorten show sort summarise"
    " summarize tag tell translate transfer trash undo unshare upload write zip tldr swap mv rm cp let revert reword"
    " explain stop switch turn throw sum"
)
VERBS: Final = frozenset(_VERBS.split())
"""The words at which "and" begins another request, and which are recognised with one slip."""

ROWS: Final[tuple[Row, ...]] = (
    Row(
        "restore_version",
        "edit",
        DOCUMENT,
        r"(?!.*\b(?:trash|bin|deleted)\b)(?:restore|revert|rollback|roll (?:.{0,40} )?back|go back|return"
        r"|switch(?: back)?|bring back)\b.*"
        r"(?:\bversions?\b|\bv\d+\b|\bhow it was\b)",
        forms=(
            r"(?:恢复|还原|回退|回滚|退回|回到|切换)(?!.*(?:回收站|删)).{0,20}(?:版本|第.{1,3}版|[上前旧初原]一?版|v\d)|(?:版本"
            r"|第.{1,3}版).{0,6}(?:恢复|还原|回退|回滚)"
        ),
        examples=("go back to version 3 of plan.md", "把计划.md恢复到上一个版本"),
    ),
    Row(
        "list_versions",
        "inspect",
        DOCUMENT,
        r"(?:list|show(?: me)?|see|display|get|give me|what are|which|are there)\b.{0,30}\b(?:versions\b|history$"
        r"|(?:version|edit|change|revision|file)(?:'s)? history\b"
        r"|history (?:of|for) (?:FILE|QUOTE|it\b|this\b|the (?:open |current )?(?:file|document|doc|text)\b))",
        forms=(
            r"(?:列出|查看|看看|看一下|显示|有哪些|有几个).{0,20}版本(?:列表|记录|历史|信息)?$"
            r"|历史版本|(?:版本|修改|编辑|更改)历史|(?:FILE|QUOTE|文档|文件)的?历史|(?:有哪些|有几个)版本"
        ),
        examples=("show me the history of plan.md", "计划.md有哪些版本"),
    ),
    Row(
        "who_has_access",
        "inspect",
        DRIVE,
        r"(?:who|which (?:people|users|persons|colleagues))\b(?!.{0,12}\bhelp)(?: else| all)? (?:has|have|can"
        r"|could|is able to"
        r"|is allowed to|may|got|gets)\b"
        r".{0,20}(?:\b(?:access|permissions?|rights)\b|\b(?:see|view|edit|open|read)\b (?:.*(?:FILE|QUOTE"
        r"|folder|file|document)|(?:my|our|the) \w+$|it|this|that|them|these|those|everything))"
        r"|(?:who|whom|which people)\b.{0,30}\bshared with\b|who (?:did|have) (?:i|we) shared? .{1,60} with"
        r"|(?:is|are) .{1,60}\bshared(?: with\b|$)|(?:show(?: me)?|list|check|see"
        r"|what are) .{0,30}\b(?:permissions|who (?:has|can))\b"
        r"|(?:has|have|does) (?:any|some|every)(?:one|body)\b.{0,40}\b(?:access|permissions?|rights) to\b"
        r"|what (?:is|was|has been|did|have i|files are).{0,24}\bshared (?:with|by)\b|(?:does|can"
        r"|has) MAIL\b.{0,20}\b(?:access|see|view|edit|open|read)\b",
        forms=(
            r"谁(?!.{0,6}(?:帮|空|时间|兴趣)).{0,6}(?:能|可以|有权|可|有).{0,12}(?:看(?![懂出好病过])|访问|编辑|查看|权限$)|(?:共享"
            r"|分享)给(?:了)?(?:谁"
            r"|哪些人)"
            r"|(?:有)?(?:哪些|什么)人.{0,6}(?:能|可以|有权|有).{0,12}(?:看|访问|打开|编辑|权限)|(?:共享|分享)给我的"
            r"|谁有.{0,20}权限|^(?![给让]|允许|授).{0,20}(?:查看|列出|看看|看一下).{0,20}(?:权限|共享情况)|MAIL.{0,3}(?:有|能).{0,20}(?:权限"
            r"|看|编辑)吗"
        ),
        examples=("who has access to Reports?", "谁能看到工资表？"),
    ),
    Row(
        "undo",
        "organise",
        DRIVE,
        r"(?:undo|redo(?=$| (?:it|that|this|what|the (?:last|change|move|deletion)))"
        r"|revert(?!.*\b(?:paragraph|section|title|sentence|heading|line|chapter|table|text)\b)|rollback"
        r"|roll (?:it |that |this |them |everything )?back"
        r"|take back(?= (?:the|my|that|this)\b)|take (?:it|that|this"
        r"|them) back)(?=\s|$)",
        verbs=r"撤销|撤回(?!.*(?:邮件|消息|申请))|回滚|重做(?=$|刚才|上一|操作|那|它|一下$)|反悔",
        endings=r"(?:撤销|撤回|回滚|重做)(?:掉|一下)?$",
        examples=("undo that", "撤销刚才的操作"),
    ),
    Row(
        "share",
        "organise",
        DRIVE,
        r"(?:leave|quit|exit) (?=(?:the |this |that )*shared? \S)"
        r"(?!.*\b(?:alone|as (?:it|they) (?:is|are)|untouched|unchanged|where|in place|there)\b)|"
        rf"unshare \w|(?:share(?! (?:of|price|with me\b|your|the (?:highlights|gist|main|key|point|summary)"
        rf"|an? (?:summary"
        rf"|overview)|some))|unshare|(?:stop|start|end|quit) sharing|revoke|invite)(?=\s.*(?:MAIL|{THING}|\b(?:it|this"
        rf"|them|these|those|access|links?|everything|all)\b))"
        r"|(?:give|grant|allow|let|enable|set|make sure)\b(?:.{0,40} )?MAIL\b|add MAIL\b(?!.*\b(?:list|table"
        r"|line|section)\b|.*to FILE)"
        r"|(?:give|grant) .{1,60}\b(?:access|permissions?|rights)\b|(?:remove|withdraw|cancel|take away|end"
        r"|delete) .{1,60}\b(?:access|permissions?)\b"
        r"|(?:add|make|set|change|turn|switch|downgrade|upgrade|promote|demote) .{1,60}\b(?:viewers?|editors?"
        r"|commenters?|read-only)\b"
        r"|(?:get|create|make|generate|give|send|need|copy)\b.{0,20}\b(?:share|shared|sharing|public|view-only"
        r"|download)(?: |-)?links?\b"
        r"|(?:get|give|send|create|make|generate|need)(?: me)? (?:a|the) (?:\w+ )?link (?:to|for) (?:FILE|QUOTE|this"
        rf"|(?:the|my|our) (?:\w+ ){{0,2}}{THING})"
        r"|(?:kill|disable|deactivate|turn off|switch off|cancel) .{0,30}\blinks?\b(?!.* (?:table|paragraph"
        r"|section|list|text|heading)\b)"
        r"|(?:change|set|edit|update|adjust) .{0,30}\b(?:permissions?|sharing|owner)\b"
        r"|does \w+ have (?:\w+ )?(?:access|rights)"
        r"|(?:anyone|anybody|everyone|everybody|people) with the link\b.{0,16}\b(?:can|may|should|to)\b"
        r"|(?:take|kick|remove) .{1,40} (?:off|out of|from) (?:the |my |our )?shared\b|let (?:him|her"
        r"|them) (?:edit|read|view|see)\b|MAIL .{0,30}\b(?:be able to|have access|may"
        r"|can) ?(?:edit|read|view|see|to)?\b"
        r"|make .{1,40} (?:public|private)$",
        verbs=(
            rf"(?:共享|分享|授权|邀请|share)(?=.*(?:给(?!我(?!们))|MAIL|{THING}))|取消(?:对.{{0,20}})?(?:共享|分享)"
            rf"|停止(?:共享|分享)|退出(?=.*(?:共享|分享))"
        ),
        endings=r"(?:共享|分享|开放) ?给(?!我(?!们))|授权给",
        forms=(
            r"^(?:取消|收回|撤回|移除|去掉|解除|关闭).{1,40}(?:权限|共享|分享|链接)|(?:权限).{0,12}(?:改成"
            r"|改为|设为|换成|降为|升为|调整为)"
            r"|^(?:让|允许|确保|把|给|将|邀请).{0,20}MAIL.{0,40}(?:编辑|查看|阅读|看|权限|访问|编辑者|查看者)"
            r"|链接.{0,4}(?:关掉|关闭|关了|收回|收回来|撤回|取消|失效|停用)(?:吧|掉)?$|^给 ?MAIL.{0,4}(?:共享|分享)"
            r"|^(?:修改|更改|调整|设置|编辑)(?:一下)?.{0,12}权限"
            r"|(?:生成|创建|建|做|发|要|弄)(?:一)?个?.{0,16}(?:分享|共享|公开)?链接|^MAIL.{0,6}(?:需要|应该)(?:能|可以)"
        ),
        examples=("share plan.md with bob@example.com", "把计划.md共享给 bob@example.com"),
    ),
    Row(
        "restore",
        "organise",
        DRIVE,
        r"(?:restore|recover|undelete|untrash)(?=\s)|(?:i|we) (?:accidentally|mistakenly|wrongly) (?:deleted"
        r"|removed|trashed)\b|(?:bring|get|put|take) (?!it\b|them\b|that\b).{1,60}\b(?:back|out of the trash"
        r"|from the trash)$"
        r"|(?:get|bring|take|put) back (?=.*\b(?:FILE|deleted|trash)\b)"
        r"|(?:my|the|our) (?:deleted|lost|trashed) .{1,40} back$|put .{1,60}\bback (?:where|to where"
        r"|into? (?:its|the) (?:old|original|previous))\b"
        r"|(?:bring|get|take) .{1,60}\b(?:back from|out of|from) the (?:trash|bin)",
        verbs=r"恢复|找回|取回|还原|复原",
        endings=r"(?:恢复|找回|还原|复原|找|弄|拿|取)(?:回来|过来)$|(?:恢复|找回|还原|复原)(?:一下|掉)?$",
        forms=r"(?:不小心|误).{0,24}(?:删).{0,16}(?:恢复|找回|还原|弄回来)",
        examples=("restore plan.md from the trash", "从回收站恢复计划.md"),
    ),
    Row(
        "create_folder",
        "organise",
        DRIVE,
        r"(?:create|make|add|set up|new|start|mkdir|build)(?=\s)(?:(?!\b(?:of|in|from|about|on)\b).){0,40}?"
        r"\b(?:(?:sub-?)?folders?|director(?:y|ies))\b"
        r"|mkdir \S|(?:(?:can|could|may) (?:we|i) (?:have|get) )?an? (?:new |separate )?(?:sub-?)?folder (?:for"
        r"|called|named)\b"
        r"(?!.* (?:is|was|were|has|had|where|that|which)\b)",
        verbs=(
            r"(?:新建|创建|建立|建(?!议)|添加|加(?!密)|新增)(?:(?!关于|讲|[段句里]).){0,20}(?:文件夹|目录|folder)|(?:弄|整|做"
            r"|开)(?:一)?个.{0,16}(?:文件夹|目录)"
        ),
        forms=r"(?:里|中|里面|下|下面|这儿|这里|在此)(?:新建|创建|建立|建|添加)(?:一)?个?.{0,16}(?:文件夹|目录)",
        examples=("create a folder Reports", "新建文件夹报告"),
    ),
    Row(
        "copy",
        "organise",
        DRIVE,
        r"(?:copy|cp|duplicate|clone|back(?: |-)?up(?=\s)(?! (?:a|to|and)\b))(?:\b|(?=\s))(?! (?:that|editing"
        r"|and paste|this text|the text|paragraph))|(?:make"
        r"|create|save) (?:a |an |\d |two |three )?(?:cop(?:y|ies)|duplicate|backup)\b",
        verbs=r"复制|拷贝|备份|另存|copy",
        endings=r"存一份|(?:复制|拷贝|备份)(?:一份|一下|到|过去|出来)|另存(?:一份|到|为)",
        examples=("make a copy of plan.md", "计划.md复制一份"),
    ),
    Row(
        "create_file",
        "organise",
        DRIVE,
        r"(?:create|make|write|save|start|new|touch)(?! (?:a )?note of\b)(?=\s)(?:(?!QUOTE|\b(?:in|to|of|at|on"
        r"|throughout|through|from|into)\b).){0,50}?(?:FILE|\b(?:file|document|doc|note|memo|text file)s?\b)"
        r"|(?:save|store) (?:it|this|that|the (?:summary|result|answer|text))\b.{0,12}\b(?:as|to|in|into"
        r"|under)\b|(?:create|new|touch) FILE",
        verbs=(
            r"(?:新建|创建|建立|建|写(?![明着了过到进入])|保存|存|新增)(?:成|为|到)?.{0,16}(?:文件(?!夹)|文档|笔记"
            r"|便签|文本|备忘录|FILE)"
        ),
        endings=r"(?:保存|存)(?:成|为|到|在|进)",
        forms=(
            r"^在(?!哪)(?:.{1,24}?(?:里面|里边|里|中|内|下面|下)|/\S{1,24}? ?)"
            r"(?:再)?(?:新建|创建|建立|新增|建)(?![的了过]).{0,24}?(?:文件(?!夹)|文档"
            r"|笔记|FILE)$"
            r"|^(?:[把将].{0,16})?(?:总结|摘要|小结|概要)(?:内容|结果)?(?:写|保存|存|放)(?:入|到|进|成|在|为).{0,20}(?:文件(?!夹)|文档|FILE)"
            r"(?:里面|里|中|内)?$"
        ),
        examples=("create a note todo.txt that says: call Ann", "新建一个文档 todo.txt"),
    ),
    Row(
        "rename",
        "organise",
        DRIVE,
        r"(?:rename|ren)(?=\s)|(?:change|edit) (?:the |its )?(?:file ?|folder ?)?name\b|give .{1,60}\b(?:new"
        r"|another|different|better) name\b"
        r"|retitle(?=\s)",
        verbs=r"重命名|改名|改个名|更名|rename",
        endings=(
            r"(?:重命名|改名|改个名|更名)(?:为|成|叫|做|一下|$| )|(?:的)?(?:文件)?名(?:字|称)?(?:改|换)(?:成|为|一下"
            r"|掉)|改叫|换个?名字?(?:叫|为|成)"
        ),
        forms=r"(?:这个名字|文件名|名字).{0,12}(?:改成|改为|换成)|(?:改|换)(?:一下|个|掉|一个)?.{0,24}名(?:字|称)?$",
        examples=("rename draft.md to final.md", "把草稿.md重命名为终稿.md"),
    ),
    Row(
        "list",
        "inspect",
        DRIVE,
        r"(?:list|ls|show(?: me)?|display|see|open|give me(?: a list of)?)(?: me)? (?:all |of |the |my |our "
        r"|every |everything |contents |content |a list )*"
        r"(?:files|folders?|documents|director(?:y|ies)|trash|drive|everything|content of|contents of)\b"
        r"(?!.*FILE)(?!.{0,40}\b(?:about|mention(?:s|ing)?|regarding|that (?:say|contain|talk)|related|with|containing"
        r"|from|where|which|named|called)\b)"
        r"|(?:ls|list)$|(?:what|which) (?:files|folders|documents) (?:do (?:i|we) have|are there|have i got)$"
        r"|what(?:'s| is| are| do (?:i|we|you) have| have i got)?(?: all| the files| files)? (?:are )?(?:in"
        r"|inside) .{0,40}\b(?:folder|drive|trash|directory|bin)\b"
        r"|(?:what|which) (?:files|folders|documents)(?: are| do i have"
        r"| do we have)? (?:there )?in\b.{0,60}\b(?:folder|drive|trash|directory)\b"
        r"|what (?:is|does|do) (?:the |my )?(?:folder \S+|\S+ folder) contain"
        r"|how many (?:files|folders|documents) (?:do (?:i|we) have|are there)$|how many (?:files|folders"
        r"|documents|photos|items|things)\b.{0,20}\b(?:are|do i have|have i|is)\b.{0,6}\b(?:in|inside|there)\b",
        verbs=(
            r"(?:列出|列一下|显示|列举|打开|看看|看一下|查看)(?!.*(?:[这那该本一](?:个|份|篇)|合同|报告)文件$)(?!.{0,40}(?:关于|提到|包含|涉及"
            r"|写到)).{0,30}?(?:文件|目录|回收站|云盘|文件夹)(?:里的内容|的内容|列表)?$"
        ),
        forms=(
            r"(?:回收站|垃圾桶|云盘|目录|文件夹|folder|QUOTE)(?:里面|里边|里|中|下面|下)?(?:都|还|现在|一共"
            r"|总共)?(?:有|放了|装了|存了)(?:些)?(?:什么|哪些|啥)(?:东西|文件|内容)?$"
            r"|^(?!.*(?:关于|提到|有关|涉及|相关|写)).*有(?:哪些|什么|多少|几个)(?:个)?(?:文件|文件夹|东西|目录|内容)$"
        ),
        examples=("what is in the folder Photos?", "照片文件夹里有什么"),
    ),
    Row(
        "delete",
        "organise",
        DRIVE,
        r"(?:delete|remove|trash|discard|bin|erase|del|rm|throw (?:away|out)|get rid of|clean out|empty|dump"
        r"|wipe|chuck(?: out)?)(?=\s)(?! (?:talk|can|it out|up|off|down|nothing|is|was|has|are)\b)"
        r"|(?:send|throw|put|toss|move|drop|chuck) .{1,60}\b(?:to|in|into) the (?:trash|bin|recycle bin)$",
        verbs=r"(?:彻底|永久|统统|全部)?(?:删除|删掉|删去|移除|扔掉|清空|清理掉|丢弃|丢掉|删了|删|delete|remove)",
        endings=(
            r"(?:删除|删掉|删去|删了|移除|扔掉|扔了|清空|丢掉|丢了|清掉|清理掉|删)(?:一下|掉)?$"
            r"|(?:扔|丢|放|移|挪)(?:进|到|入|去)?(?:回收站|垃圾桶|垃圾箱)(?:里|里面)?$"
        ),
        examples=("delete everything in Old", "删除旧文件夹里的所有内容"),
    ),
    Row(
        "move",
        "organise",
        DRIVE,
        r"(?:move|mv|relocate|transfer|shift)(?=\s)(?! (?:to|in|into|on|forward|ahead|along|over|away|up"
        r"|down)\b)|(?:put|drag|drop|stick|place|sort)\b(?!.*\b(?:in|into) (?:bold|italics?|writing|words"
        r"|(?:\w+ )?order|plain|english|german|french|spanish|chinese|japanese)\b)(?=.*(?:FILE|\ball\b"
        r"|\bfolders?\b|\bfiles?\b|\bit\b"
        r"|\bthem\b|\bthese\b)).{1,60}\b(?:in|into|inside|under|to|there)\b",
        verbs=r"移动|移到|移至|移入|移进|挪到|挪|搬到|搬|(?<![到进入至])归档|转移|move",
        endings=(
            r"移动到?|移到|移至|移入|移进|移去|移过去|挪到|挪进|挪过去|放到|放进|放入|放在|搬到|搬进|搬过去"
            r"|(?<![到进入至])归档|归到|转移到|拖到|放回"
        ),
        examples=("move plan.md to Archive", "把计划.md移到归档"),
    ),
    Row(
        "history",
        "inspect",
        DRIVE,
        r"(?:what|which files) (?:did|have) (?:(?:you|i|we) (?:just )?(?:changed?|modif(?:y|ied))"
        r"|you (?:just )?(?:done|do))\b(?:.{0,24})$",
        forms=r"(?:今天|刚才|最近|你|我)(?:都)?(?:改|修改|动|变更)[了过](?:哪些|什么)(?:文件|东西|内容)?$",
        examples=("what did you change today?", "刚才改了哪些文件"),
    ),
    Row(
        "compile",
        "organise",
        DRIVE,
        r"(?:summari[sz]e|combine|merge|compile|collect|condense)\b.{1,60}\b(?:into|in|as) (?:FILE|(?:a"
        r"|one) (?:new |single )?(?:file|document|note)\b)",
        endings=r"(?:汇总|整理|总结|归纳|概括)(?:成|为)(?:一)?(?:个|份|篇)?.{0,6}(?:文件(?!夹)|文档|笔记|FILE)",
        examples=("summarise the offers into a new document", "把会议纪要汇总成一个新文档"),
    ),
    Row(
        "find",
        "look",
        SEARCH,
        r"(?:find(?! out)|search|grep|look(?:ing)? (?:for|up)|locate|hunt (?:for|down)|dig (?:up|out)"
        r"|pull up(?= (?:the|my|our|that|all|FILE|QUOTE)\b)"
        r"|track down)(?=\s)"
        r"|(?:i(?:'m| am) )looking for\b|where(?:'s| is| are)\b(?! (?:you|we|(?:it|that|this) from"
        r"|(?:the )?(?:\w+ )?(?:button|option|setting|settings|menu|feature|trash|bin|recycle bin)))"
        r"|where (?:did|have|had) (?:i|we"
        r"|you)\b|where do (?:i|we) (?:keep|store|save|have)\b"
        rf"|(?:get|fetch|bring) me (?:the|my|our|that) (?:\w+ ){{0,2}}{TEXTS}(?=$| (?:with|from|of|for|on|about"
        rf"|that|which|in|by)\b)"
        rf"|(?:which|what) (?:of (?:my|our|the) )?(?:\w+ )?{TEXTS}\b.{{0,20}}?\b(?:mention|talk|contain|say"
        rf"|answer|discuss|refer|cover|describe|deal|is about|are about|list|include|explain)"
        rf"|(?:do|did) (?:i|we) have (?:anything|something|any|some|a|an)\b.{{0,30}}\b(?:on|about|regarding|for"
        rf"|from)\b|(?:is|are) there (?:anything|something|any|a|an|other|more|some)\b.{{0,20}}\b{TEXTS}? ?(?:on|about"
        rf"|regarding)\b"
        rf"|find out (?:which|what|when|where|how (?:much|many|long))\b(?=.*\b{TEXTS}\b)|where .{{1,60}} (?:is"
        rf"|are|went)$"
        rf"|(?:look|check|search|go)(?: in| into| through)? (?:my|the|our) (?:\w+ )?{TEXTS} (?:for|whether|if)\b"
        r"|check (?:whether|if) .{1,40}\b(?:mentions?|says?|contains?|includes?)\b"
        rf"|(?:which|what) (?:of (?:my|our|the) )?(?:\w+ )?{TEXTS} (?:end|expire|start|run out|cost|cover|answer)s?\b"
        rf"|(?:is|are) there (?:an?|any|some) (?:\w+ )?{TEXTS} (?:that|which|where|explaining|describing)\b"
        rf"|(?:have you |have i |have we |you |i |we )?got (?:anything|something|any|some)\b.{{0,20}}\b(?:on|about"
        rf"|regarding|for|from)\b|(?:show|give|get)(?: me)? (?:everything|anything|all)(?: \w+){{0,2}} (?:about|on"
        rf"|regarding|related to)\b|(?:any idea|do you know|no idea|i wonder|i don't know) where\b(?! (?:this"
        rf"|that|it|we|you|they)\b)"
        rf"|any(?:thing)? ?(?:{TEXTS} )?(?:on|about|regarding)\b|(?:show|give|get) (?:me )?(?:all |the |any "
        rf"|every |my )*{TEXTS}\b.{{0,12}}\b(?:about|on|regarding|related to|that mention|mentioning)\b"
        rf"|(?:list|show me) (?:all |the |my |every )*{TEXTS} (?:that|which|where|about|with|mentioning)\b"
        rf"|i (?:can't|cannot|can not) find\b",
        verbs=(
            r"(?:查找|查询|搜索(?!记录|历史|框|栏|功能)|搜寻|搜(?!索)|检索|寻找|找找|找(?!人|工作|对象|房|时间|机会|个(?:时间|人|机会|地方|工作))|查一下|查下|查查"
            r"|查(?![看阅收验]))(?!回)|search|find"
        ),
        forms=(
            r"^[在从去到].{1,16}(?:里|中|里面)(?:搜索|搜一下|搜|查找|查一下|找一下|找)(?!到|出|回)|"
            rf"(?:在哪|(?:存|放|搁|塞|收|弄)(?:到|去)?哪|放在哪|放到哪|存在哪|在什么地方|在哪儿|在哪里)(?:里|儿|了|呢)?(?:个)?(?:文件夹|地方"
            rf"|里)?(?:了|呢)?$"
            rf"|^(?:看看|看一下|看下|查查|查一下)?(?:有)?哪(?:些|几|份|封|个|一|篇|张|本)*{TEXTS_ZH}?.{{0,8}}(?:提到|写到|写过|写了|讲到|讲了|说到"
            rf"|说明|出现|包含|涉及|规定|介绍|回答|有关)"
            rf"|^(?:看看|看一下|看下|查查|查一下)?有?哪(?:些|几份|几个|几篇|份|篇|封|本|张){TEXTS_ZH}(?!.*(?:能|可以|应该|该|要|共享|分享|删|移|改|动|谁"
            rf"|最)).{{2,}}"
            rf"|(?:列出|找出|显示).{{0,6}}(?:提到|写到|关于|包含|涉及|含有|有关).{{1,20}}{TEXTS_ZH}$"
            rf"|^(?:关于|有关).{{1,20}}(?:规定|要求|内容|{TEXTS_ZH})(?:都)?有(?:哪些|什么|没有)"
            rf"|^有没有.{{0,24}}(?:的|关于).{{0,20}}{TEXTS_ZH}$|^(?:我们|我)?有(?:没有|哪些)?关于"
        ),
        endings=r"(?:找|搜|查)(?:出来|一下|一找|查)$",
        examples=("find the invoices of May", "找一下五月的发票"),
    ),
    Row(
        "read",
        "look",
        SEARCH,
        r"(?:summari[sz]e|sum up|recap|outline|brief me on|tl;?dr)(?=\s|$)"
        rf"|(?:what(?:'s| is| are)? )?(?:the )?differences? between (?=.*(?:FILE|QUOTE|\b{TEXTS}\b))"
        r"|how (?:do|does) .{1,60} differ\b(?=.*FILE)"
        r"|what(?:'s| is) the (?:summary|gist|conclusion|upshot|(?:main|key) \w+) of\b|compare(?=.*(?:FILE|QUOTE"
        r"| and | with |\b(?:the|my|our|this|these|those|all|both)\b))"
        r"|what(?:'s| is) in FILE|read (?:me )?FILE$"
        r"|(?:give me |i need )?(?:an? |the )?(?:short |quick |brief |one-line )?(?:summary"
        r"|overview|gist|recap|key points|main points|takeaways|tl;?dr) (?:of|on)\b"
        rf"|what (?:does|do|did) (?!you\b|(?:he|she|they|it|that|this) \w+$).{{1,60}}\b(?:say|state|mention|tell"
        rf"|recommend|write|note|conclude|specify)\b"
        rf"|(?:what|when|where|who|how|which|is|are|does|do|can)\b.{{1,80}}\baccording to\b"
        rf"|(?:what|when|where|who|how much|how many|how long|which|is|does)\b.{{1,60}}\b(?:in|of|per|on"
        rf"|under) (?:my|our|the|his|her|their) (?:\w+(?:'s)? ){{0,3}}(?!files?$|docs?$|documents?$){TEXTS}$"
        rf"|what(?:'s| is| are) (?:FILE|(?:the|my|our|this|that) (?:\w+ ){{0,2}}{TEXTS}) about$"
        rf"|explain (?:what )?(?:FILE"
        rf"|(?:the|this|my|our) (?:\w+ ){{0,2}}{TEXTS})",
        verbs=(
            rf"(?:念念|念一下|念|讲讲|讲一下|讲解|介绍|解释|梳理|提炼)(?:一下|下)?(?=.*(?:FILE|QUOTE|{TEXTS_ZH}))"
            rf"|(?:对比|比较)(?=.*(?:[稿版表单段节章]|{TEXTS_ZH}|FILE|QUOTE))|(?:总结|概括|概述|归纳|阅读|读一下|读读"
            rf"|解读)(?:一下|下)?|(?:summari[sz]e|compare)"
        ),
        endings=r"(?:总结|概括|概述|对比|比较|归纳)(?:一下|下|一遍)?$",
        forms=(
            rf"关于.{{1,30}}(?:是|怎么|如何|怎样)(?:规定|说|写|讲|约定)|(?:里|中|里面|上)(?:是)?(?:怎么"
            rf"|如何)(?:规定|说|写|讲)|(?:FILE|文档|文件|文章|报告|合同).{{0,4}}(?:讲|说|写)(?:的"
            rf"|了)?(?:是)?(?:什么|啥)"
            rf"|^(?:看看|看一下|读一下|读读|看)[^，,]{{0,16}}FILE ?[里中]的"
            rf"|^用.{{1,10}}(?:总结|概括|概述)|^(?:根据|按照|依照|按).{{0,12}}{TEXTS_ZH}.{{1,40}}(?:{ASKS_ZH}|吗$)"
            r"|^FILE ?(?:里|中|里面|上)(?!.*(?:怎么|如何)(?:改|删|加|移|换|分享|共享))的?"
            r".{1,40}(?:什么|多少|多久|哪|几|谁)"
            rf"|(?:FILE|QUOTE).{{0,12}}(?:和|与|跟|及).{{0,12}}(?:FILE|QUOTE).{{0,6}}(?:区别|不同|不一样|差别|差异|变化)"
            rf"|^QUOTE ?(?:这|那)?(?:篇|份|本|个)?(?:文件|文档|文章)?(?:里|中|上)?(?:讲|说|写)的?了?(?:是)?(?:什么|啥)"
            rf"|^(?:看看|看一下|查查|根据|按照|按)?.{{0,20}}{TEXTS_ZH}(?:里|中|里面|上(?![次周个月传面]))(?!(?:都|还)?有(?:什么"
            rf"|哪些|啥)$).{{1,40}}{ASKS_ZH}"
        ),
        examples=("summarise plan.md", "总结一下计划.md"),
    ),
    Row(
        "edit",
        "edit",
        DOCUMENT,
        r"(?:replace|rewrite|rephrase|reword|edit|correct|fix|proofread|insert|append|prepend|paraphrase|rework"
        r"|revise|amend"
        r"|tidy up|clean up|touch up|fill in|update(?! me\b| us\b))(?=\s|$)"
        r"|(?:translate|shorten|condense|polish|expand|simplify|tighten|improve|capitali[sz]e|format|reformat"
        r"|change|add|delete|remove|swap|reorder|cut|write|turn|convert|put)(?=\s|$)"
        r"|make .{1,40}\b(?:shorter|longer|clearer|simpler|bold|italic|friendlier|more \w+|less \w+|a (?:list"
        r"|table|heading))\b"
        r"|(?:create|write|make)(?=.*\b(?:tables?|list|headings?|sections?|paragraphs?|summary|title|rows?|columns?)\b)"
        r"|in FILE .{0,12}(?:change|replace|add|fix|correct|remove|delete)\b",
        verbs=(
            r"替换|修改|改写|润色|润饰|更正|纠正|修正|翻译|缩短|精简|扩写|插入|追加|补充|编辑|校对|改(?:一下"
            r"|掉|完|好|正)|翻译?成|译成|删除|删掉|删去|(?:新?增?加|添加|新增)(?:一|上|个)|rewrite|translate|edit"
        ),
        endings=(
            r"替换(?:成|为|掉)?|改成|改为|换成|变成|变为|改写|润色|润饰|译成|翻译?(?:成|为)"
            r"|加粗|居中|标红|高亮|[改写]得.{1,8}$|去掉|拿掉|改(?:掉|一下|正|了|好|过来)$|缩短|精简"
            r"|补充|(?:加|写|记|抄|填|插入?|追加|添加?)[到进入]|写得?.{0,3}(?:短|长|简洁|正式|客气)"
            r"|(?:加|补|写|插入|追加|添)(?:上|入|进)?(?:一)?(?:行|句|段|个|条|节)|(?:短|长|简洁|正式|客气"
            r"|通俗|客观|口语|生动|委婉)(?:化)?一?[点些]|换一?下顺序|删(?:掉|除|去)?$"
        ),
        forms=(
            r"FILE ?(?:里|中|里面|最后|末尾|结尾|开头)(?:再)?(?:加|添|补|写|插)(?:上|入|进|一)"
            r"|^(?:在|给)?(?:[这本该]|当前)?[份篇个]?(?:文档|文章|文件|报告|合同|笔记|文)的?(?:最后|末尾|结尾|末|开头)处?(?:再)?"
            r"(?:加|添|补|写|插|附)(?:上|入|进)?(?:一|个|份|段)"
        ),
        examples=("replace 30 days with 45 days in this document", "把这份文档里的30天改成45天"),
    ),
    Row(
        "talk",
        "talk",
        DRIVE,
        r"(?:hi|hello|hey|good (?:morning|evening|afternoon))(?: there)?$|(?:thanks?|thank you|thx|ty"
        r"|cheers)(?: (?:a lot|so much|very much|again|you))?$"
        r"|(?:what can you do|what do you do|who are you|what are you able to do|how can you help(?: me)?)$",
        forms=(
            r"^(?:你好|您好|嗨|早上好|晚上好|下午好)$|^(?:非常|太|多)?(?:谢谢|感谢|多谢|谢)(?:你|您|了|啦|啊"
            r"|大家)*$|^(?:你|您)?(?:都)?(?:能|会|可以)(?:做|干|帮我做)(?:些)?(?:什么|啥)$|^(?:你|您)是谁$"
        ),
        examples=("what can you do?", "你都能做什么？"),
    ),
    Row(
        "unknown",
        "other",
        DRIVE,
        r"(?:e-?mail|send|mail|fax|print|forward|notify|remind|call(?! (?:it|this|them)\b)|schedule|book|buy"
        r"|order|download|upload|zip|unzip|compress|export|import|merge|split|tag"
        r"|label|star|pin|lock|sign|publish|post|message|warn|ask|check|calculate|count|convert|combine|draft"
        r"|compose|reply|never mind|forget|wait|if|unless|whether|as soon as|when)\b",
        verbs=(
            r"发送|发给|发到|发(?![票展言现表型音])|打印(?!机)|转发|通知|提醒|下载|上传|压缩|解压|导出|合并|拆分|预订|订(?![单阅])|买|打电话|签(?![证名])"
            r"|告知|问(?![题卷])|算(?!法)|统计|回复|如果|要是|假如|万一|若|等(?!级)|算了"
        ),
        endings=r"(?:发给|发到|转发给|寄给|发送给|打印(?:出来)?|压缩|解压|导出|合并|拆分|转成|转换成)",
        examples=("email it to the team", "打印出来"),
    ),
)
"""The requests that people make, the narrow rows first."""
