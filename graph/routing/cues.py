"""Words that change the sense of verbs beside them: parts of a text, questions, conditions, references, reports."""

import re
from typing import Final

from graph.routing.intent_table import TEXTS, TEXTS_ZH, THING
from graph.routing.wording import FILE, QUOTE

TEXT_PARTS: Final = re.compile(
    r"\b(?:words?|sentences?|paragraphs?|sections?|lines?|headings?|subheadings?|titles?|rows?|columns?"
    r"|half|bullets?|typos?|commas?|phrases?|chapters?"
    r"|intro(?:duction)?|conclusion|summary section|abstract|discussion|footnotes?|tables?|lists?"
    r"|table of contents|occurrences?|mentions? of|references? to|passages?"
    r"|greetings?|the parts?|spelling|grammar|wording|tone|appendix|placeholders?)\b"
    r"|第?[一二三四五六七八九十两几最后前\d]+个?[段句行章节点条项列](?!文)|段落|句子|章节|标题|错别字|错字|单词"
    r"|词语|开头|结尾|末尾|摘要|引言|结论|表格|语气|语法|目录页|段|文中|文里|个词|句话|字样|最?[前后]面$|部分|[前后]半",
)
"""Parts of a text: with a document open, an action on them is an edit."""
FOLDERS: Final = re.compile(r"\bfolders?\b|\btrash\b|\bdrive\b|文件夹|回收站|云盘")
HERE: Final = re.compile(
    r"\b(?:this|the|current|open) (?:document|file|text|page|report|doc|note|letter|one)\b|\b(?:in )?here\b"
    r"|\bin it\b|\b(?:this|it)\b"
    r"|(?:这|本|当前|该)(?:份|个|篇|一篇|一份)?(?: ?(?:doc|file|text|report|note|page)|文档|文件|文章|报告|笔记|合同)"
    r"|本文|全文|文中|这里面|这篇|这份",
)
"""Names of the open document."""
WHERE: Final = re.compile(
    r"where(?:'s| is| are| was)\b|(?!.*(?:文中|本文|全文|提到|写|说|讲)).*(?:[在存放]哪|哪个?(?:文件夹|目录|地方))"
)
"""Asks for a place, not for a text's words."""
IN_HERE: Final = re.compile(
    r"\bin (?:here|it|this|the (?:document|text|file))\b|\bhere\b|本文|文中|全文|这篇|这份|这个文档|当前文档"
)
"""Inside the open document."""
OPEN_TEXT: Final = re.compile(
    r"\b(?:this|the open|the current) (?:document|text|page|report|doc|note|letter)\b|\bin here\b|\bhere$"
    r"|本文|文中|全文|这篇|这封(?:信|邮件)|这份(?:文档|报告|合同|文件)|(?:这个|当前)文档"
)
"""The text that is open, not the file."""
INSIDE: Final = re.compile(
    r"\b(?:from|in|of|to|at|on|throughout|of|inside) (?:the|this) (?:(?:end|top|bottom|start"
    r"|beginning) of (?:the|this) )?(?:document|file|doc)\b|(?:文档|文件)(?:里|中|内|的)"
)
"""A place in a document, not the document itself."""
NEW_FILE: Final = re.compile(r"\bnew (?:file|document|doc|note)\b|新(?:的)?(?:文件|文档)")
SHORTER: Final = re.compile(
    r"summar|overview|outline|condense|shorten|translate|缩短|精简|翻译|译|write"
    r"|\bnew\b|create|turn|convert|新"
)
"""Actions on a text, or on a summary of it."""
TELLS: Final = re.compile(
    r"怎么|如何|怎样|为什么|为何|为啥|是否|有没有|有无|该不该|要不要|应不应该|会不会|能不能|可不可以|安全吗"
    r"|什么意思|什么|多少|多久|几时|几点|被|失败|坏了|没反应|不见了|报错|不能用|不了|不掉|成功了|觉得|认为|建议(?!书)"
    r"|如果|要是|假如|万一|若|区别|不想|吗$|了没|没有?$|^(?![把将]).*(?:昨天|上次)(?!的)|曾经|已经|(?:写着|写道|说|提到|叫我"
    r"|让我)[:：]?$|^(?![请你您我帮那把将]).{1,6}(?<![小传解演])(?:说(?![明法书])|要求|让我|叫我|要我|催我|建议)"
    r"|^(?:我|.{1,4})把.*了$|(?:他|她|同事|老板|经理|别人).{0,12}(?:说|叫|让|把|已)|谁|哪"
)
"""In a Chinese clause: it asks, tells or supposes, and requests nothing."""
SPOKEN_OF: Final = re.compile(
    r"\b(?:nobody|no ?one)\b|\bor (?:not|keep|leave|rather|should)\b|^[a-z]+ or [a-z]+\b"
    r"|([要该应可会能好难])不\1|是不是|(?<!^)还是|啥|不一样|几[步次种]|最[多少]|一律|据说|听说|好像|似乎|被(?![^,，]{0,8}的)"
    r"|^(?:我|他|她|大家|有人|别人|对方)(?!们?的|.{0,3}(?:不小心|误))"
    r"|^(?![请你您帮先再都全从在到给用按对关今明]|FILE|QUOTE)[\u3400-\u9fff]{3,12}?[把将](?!来)"
    r"|^(?![请你您帮那把将给让从在])[^,，]{1,8}(?<![小传解演])(?:说(?![明法])|要求|通知|规定|决定|打算|准备|希望|想(?![法象])|提[到过议出]"
    r"|问(?![题卷])|表示|坚持|答应|允许|同意|指示|主张|吩咐|嘱咐|交代|安排|下令|鼓励|提醒|反对|支持|担心|赞成|[催叫让请要](?:我|你|大家|所有|全部|把))(?!FILE|QUOTE|文件|[移删改放共分复的书单])"
)
"""In a clause that names a change: somebody else wants it, or it is asked whether or how it is done."""
FORBIDS: Final = re.compile(
    r"(?:不(?![同错久足]|动产|小心)|(?<!有)没|(?<![特区级类分个识告性差辨错为成叫])别(?![人的处家墅称名针致])|[勿莫甭]|未(?![来读])|禁止|避免)"
    r"(?!(?:(?![把将给让删移改动扔丢发撤]|[共分]享|恢复|还原|清空|复制|[新创]建|归档)[^,，]){0,6}的)"
    r"|就[放留存]在|留着|保持(?:不变|原样)"
)
"""In a Chinese clause that names a change: it is not to be done. "不要的文件" only describes the files."""
ATTRIBUTE: Final = re.compile(r"(?:的|过的|之前|之后|以后|的时候|功能|按钮|记录|权限的)")
"""After a Chinese verb: it only describes the noun that follows."""
ASKING: Final = re.compile(
    r"(?:how|why|should|shall|what|who|whose|whom|which|where|when|is|are|am|was|were|do|does|did|have|has|had"
    r"|can|could|may|might|must|will|would|if|unless|whether)\b"
    r"|如果|要是|假如|万一|怎么|如何|为什么|是不是|该"
)
"""At the beginning of a clause that no row knows: a question, or a condition."""
OF_CONTENT: Final = re.compile(
    r"(?:how (?!to\b)|what|who|which|where|when|is|are|was|were|does|do|did)\b|如何|怎么|为什么"
    r"|.*(?:什么|多少|多久|多大|哪|几[个点时天年月]|谁).{0,6}$|.*吗$"
)
"""A question that a document may answer, and that asks for no change."""
METHOD: Final = re.compile(r"的?(?:步骤|方法|办法|流程|教程|规定|原因|后果|风险|意思|技巧|快捷键)$")
"""Remarks about an action, not the action."""
CONTROL: Final = re.compile(
    r"\w+ (?:buttons?|keys?|options?|functions?|features?|icons?|menus?|commands?|dialogs?|bars?|box)\b"
    r"|.*\b(?:(?:does|do|did|is|are|was|will|wo|ca)(?:n't| not) (?:work|respond|load|open)\w*|is (?:broken"
    r"|missing|gone)"
    r"|fails?|failed)$"
)
"""A part of a program, or its fault."""
REPORTED: Final = re.compile(
    r"^(?!which\b|what\b).*\b(?:says?|said|wrote|writes?|states?|told me|asks? me|asked|tells? me|reads"
    r"|suggests?)(?: (?:that|to me|me|this))?$|(?:写着|写道|说|说的是|提到|叫我|让我)$"
)
"""Introduces somebody else's words."""
UNLESS: Final = re.compile(r"\b(?:if|unless|as long as|in case|provided|except when)\b|的话$|的话[，,]")
"""A condition inside a clause."""
TAKEN_BACK: Final = re.compile(
    r"\b(?:no,? wait|wait,? no|scratch that|never mind|nevermind|forget it|on second thought|or rather"
    r"|i mean)\b|不对|等等|算了|还是别|不用了|等一下"
)
"""Takes back the words before."""
REFERS: Final = re.compile(
    r"\b(?:other|second|first|third|last|same|next|previous|another|which) ones?\b|\bthe (?:other|others"
    r"|latter|former|rest)\b|\b(?:too|as well|instead|likewise)$"
    r"|另(?:外)?(?:那|一)?(?:个|份|篇)|其[他它余](?:的)?(?:也|都)|第[一二三四五]个(?=$|[呢吧也的就了给移删改放,，。?？!！])"
    r"|^同样|同样(?:处理|操作|办|地)|也同?样|(?:前|后)者|(?:[它他她]们?|[这那](?:个|些|份|篇))也"
)
"""References that only the earlier conversation resolves."""
FOLLOWING: Final = re.compile(rf"^(?:那(?![个些份])(?!.*{FILE})|还是|其他的?|另外那|不是|同样)")
"""Begins an answer to the message before."""
ELSEWHERE: Final = re.compile(
    r"\b(?:web|internet|online|google|accounts?|passwords?|apps?|calendar|reminders?|alarms?|cookies|virus"
    r"|habits?|weather|restaurants?"
    r"|flights?|hotels?|jobs?|flats?|apartments?|comments?|stocks?|thoughts|opinions?|feelings|joke|website)\b"
    r"|密码|账号|帐号|账户|健康|脑袋|心情|记忆|习惯|聊天|好友|应用|软件|系统|设置|按钮|选项|菜单|入口|批注"
    r"|评论|粘贴|天气|餐厅"
    r"|新闻|网上|上网|百度|谷歌|航班|酒店|区别|差别|好处|坏处|优点|缺点|股票|汇率|快递|日程|日历|闹钟|看法|想法"
)
"""Things that are in no drive: only in a name or a topic do they mean a document."""
OTHER_VERB: Final = re.compile(r"(?!(?:call|name|title) )[a-z]+ (?:it|them|these|those|me|the result)\b")
"""A request that no row knows."""
BARE: Final = re.compile(
    r"(?!find\b)[a-z]+ (?:it|them|this|that|these|those)$|(?:summari[sz]e|recap|outline|compare|tl;?dr|sum up)$"
    r"|(?:总结|概括|概述|归纳|对比|比较|读|恢复|还原|找找|查查|找|查|搜|搜索|查找)(?:一下|下|一遍|一次)?(?:它们?|[这那](?:个|些|份|篇|几个))?$"
)
"""A verb with nothing but a pronoun, or not even that."""
ALSO_WANTED: Final = re.compile(
    r".*\b(?:goes|should|must|ought to|needs? to|ha(?:s|ve) to)\b"
    r"|(?!.*[了过着]$).*(?:[删移改扔换译]|加密|共享|分享|复制|归档|打印)"
)
"""Another thing to be done, in a clause beside a request that no row knows."""
CHINESE_VERB: Final = re.compile(r"[把将]|[写发放存做加改转贴填记传送交挪搬](?:到|成|在|给|进|入|一|上|下)")
"""A request that no row knows, in Chinese."""
TERMS: Final = re.compile(
    r"(?:as )?(?:an? )?(?:(?:read|view|edit)(?:-| )?only|viewers?|editors?|commenters?)"
    r"|(?:只读|仅?可?查看|可编辑)(?:就行|即可)?"
)
"""Ways to share."""
PURPOSE: Final = re.compile(r"用来|用于|用作|叫|名|取名|标题")
"""Says the purpose of a new thing, or its name."""
PUT_INTO: Final = re.compile(rf"\b(?:to|into|in|at the (?:end|top|start|bottom) of) {FILE}")
MADE_INTO: Final = re.compile(
    rf"(?:write|add|append|put|insert|paste|enter|note) (?:it|them|that|this|these|those|the (?:\w+ )?\w+)(?: back)?"
    rf" (?:to|into|in|at the (?:end|top|start|bottom) of) {FILE}"
    rf"|.*[写加记抄填][^，,]?[到进入][\u3400-\u9fff]{{0,12}} ?{FILE}"
)
"""Names the file that gets the found or read text."""
OBJECT_FIRST: Final = re.compile(r"从(?:回收站|垃圾桶|垃圾箱)|(?:(?:从|在|给).{1,20}?)?[把将]")
"""The object, before the action on it."""
HAN: Final = re.compile("[\u3400-\u9fff]")
ABOUT: Final = re.compile(rf"云盘|网盘|{THING}|\b{TEXTS}\b|{TEXTS_ZH}")
"""Things that a drive holds."""
BY_CONTENT: Final = re.compile(
    r"\b(?:that|which) (?:mentions?|contains?|talks?|says?|discuss(?:es)?|deals?)\b|\b(?:mentioning|containing"
    r"|about|regarding)\b"
    r"|提到|写到|涉及|包含|关于|有关|相关"
)
"""Things named by their content: a search has to find them first."""
DERIVED: Final = re.compile(
    r"\bsummary of (?:FILE|QUOTE)|(?<!the )\b(?:summar(?:y|ies|ising|izing)|compar(?:ison|ing|es)|overview"
    r"|based on|combin(?:es|ing)|extracts?)\b"
    r"|汇总|总结|根据|对比|概述|归纳|整理|摘录"
)
"""A text that has to be made of others first."""
ABOUT_THE_FILE: Final = re.compile(
    r"\b(?:size|password|stored|kept|owner|owns|name|path|location|link|version|pages|created|modified|uploaded"
    r"|shared|format"
    r"|last (?:change|edit)|editors?)\b"
    r"|链接|密码|类型|多久|谁(?:改|建|创建|上传|动|删|编辑)|多大|大小|多少[页字个]|格式|权限|上传|共享|版本|名字|路径"
)
"""Facts about a file that need no reading."""
IN_TEXT: Final = re.compile(
    r"QUOTE|\b(?:to|into|at|after|before|above|below|under|between|with|by|from|of)\b|every|each|all"
)
"""A place or a direction in a text: a weak verb with nothing of it may mean anything."""
SOMEBODYS_NAME: Final = re.compile(
    r"^(?!.*(?:重命名|更名|FILE|QUOTE|[它这那])).*名(?:字|称)?(?:改|换)|change the name of"
)
"""A name, of a file or of something else?"""
NAMEABLE: Final = re.compile(rf"{THING}|\b(?:it|this|that)\b")
OF_THE_FILE: Final = re.compile(r"\b(?:owner|permissions?|sharing|file ?name|location)\b|权限|共享|文件名|位置")
"""Attributes of a file besides its text."""
OF_US: Final = re.compile(
    r"\b(?:our|this|the) (?:chat|conversation|discussion)\b|\bwhat (?:you|we) (?:just )?(?:did|said|discussed|talked)\b"
    r"|我们.{0,4}(?:聊|讨论|说)|对话|聊天"
)
"""Words of this conversation, not of files."""
WEAK: Final = re.compile(r"(?:add|put|write|cut|turn|convert|remove|delete|swap|format|change|create|make)\b")
COMPLAINT: Final = re.compile(
    r"(?:this|the|my|our|it)\b.{0,40}\b(?:is|are|looks?|sounds?|reads?|feels?) (?:way |far |much |a (?:bit|little) )*"
    r"(?:too|not|very|so|really|rather|quite|a (?:bit|little)) \w+(?: \w+)?$"
    r"|.{0,16}(?:太|有点|不够|不太|过于).{1,8}了?$"
)
"""A complaint, before the request about it."""
STYLE: Final = re.compile(
    r"make .{1,40}\b(?:short|long|clear|simpl|bold|italic|friendl|more|less|sound|read|look)"
    r"|turn .{1,40}\binto (?:a|an)\b"
)
"""The form of a text, not a place in it."""
ABOUT_TEXT: Final = re.compile(
    r"(?:(?:check|see) )?(?:what|which|who(?! (?:wrote|made|created|changed|edited|can|has|have))|where (?:in|does|do)"
    r"|when(?! (?:was|did|were) (?:this|it|the \w+) (?:\w+ )?(?:shared|made|created|changed|edited|saved))"
    r"|how (?:many|much|long|often|old)|(?:is|are) there|does|do(?! (?:i|we)\b)|whether|if)\b"
    r"|(?!.*(?:怎么|如何|能不能|可不可以|可以|为什么|要不要|该|谁能|权限|共享|分享|删|移|下载|打印)).*(?:什么|哪|几|多少|谁|有没有|是否|是不是|吗$)"
)
"""A question, not how something is done."""
NAMED_NOW: Final = re.compile(r"(?:改成|改为|换成|变成|叫做?|命名为|取名)")
"""Goes on to the name, after "rename"."""
NAMED_ZH: Final = re.compile(rf"[\u3400-\u9fff]{{1,12}}(?={FILE})")
"""Characters of a Chinese name, before its ending."""
IN_A_PART: Final = re.compile(
    r"\b(?:from|to|in|into|of) (?:the|this) (?:\w+ )?(?:list|table|text|paragraph|section|heading|title|sentence|intro"
    r"|conclusion|appendix|chapter|code block)\b"
)
"""Inside a part of a text, whichever it is."""
FROM_FILE: Final = re.compile(
    rf"(?:delete|remove|erase|copy|move|put) (?!{FILE}).{{1,60}}\b(?:from|in|of) {FILE}|.*{FILE} ?(?:里|中|里面|上)的"
)
"""Something of a file that is named, or something in an archive."""
CONTENTS_ZH: Final = re.compile(r"目录(?!.*文件夹)")
"""In a document it is its table of contents, elsewhere a folder."""
OF_A_FILE: Final = re.compile(
    rf"{FILE} ?(?:里|中|里面|上)的|(?:rename|change|edit) (?!{FILE}).{{1,80}}\bin {FILE}|(?:delete|remove"
    rf"|erase) (?:the|all|every|everything|any|anything"
    rf"|{QUOTE})\b.{{0,60}}\b(?:from|in|of) {FILE}"
)
"""Something in a file that is named, not the file."""
ASKED_IN_CHINESE: Final = re.compile(r"(?:吗|呢)$|为什么|会不会|能不能|还能|是不是")
"""A question beside a request: the request may hang on its answer."""
INSTEAD: Final = re.compile(r"(?:n't|\bnot|\bnever|\bdont)\b.*?\binstead$|(?:不要|别|不用).*(?:而是|改为)")
FORMATS: Final = re.compile(r"\b(?:pdfs?|docx?|word|excel|powerpoint|csv|archive|list of mine|calendar|file|folder)\b")
FOUND: Final = re.compile(r"[找查搜选挑翻][到出]")
"""Begins a clause that asks to find something, and goes on with it: "找到合同移到归档"."""
SECOND_VERB: Final = re.compile(r"(?:[到至入进掉给为成叫]|回收站|垃圾[桶箱])$")
"""The end of a verb that takes up an object named before: "找到合同移到归档" asks for two things."""
