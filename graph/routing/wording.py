"""The words of a message as the router's patterns read them: one script, names masked, cut into clauses, no courtesies.

A quotation, a dictation or a name proves nothing about a person's wishes, so it becomes one of the upper-case marks;
all else is lower case.
"""

import re
import unicodedata
from functools import cache
from typing import Final

FILE: Final = "FILE"
QUOTE: Final = "QUOTE"
MAIL: Final = "MAIL"
MARKS: Final = frozenset({FILE, QUOTE, MAIL})

_TRADITIONAL: Final = (
    "東刪動檔資夾尋還複製權給請幫煩麼編輯寫讀譯潤飾縮說話總結個這裡裏會議錄體檢報歸類與從開關於過為將擴標題節頁內誰無"
    "號變換訊單書紀條規簡筆記載點專壓產續後對應們樣讓進優並麗補項該雲盤幾張舊問務現確認邊際圖訂購導測試實運費錢帳戶證"
    "據緊組長輸連達遠選擇鎖門難飛馬黃齊銷復閱覽較區別發約簽價額業員離職銀稅貨車碼電腦機網頻視聽覺學習課論談護醫藥療驗"
    "禮慶團隊級層樓廳櫃鑰滿萬億兩雙隻頭顏顯預須順顧願風飯館魚錯誤詞語詳貼貓買賣贈趕跡轉輕輔農遲遺適鄰釋閉間隨險隱靜響"
    "領饋驟鬆齡處備僅儘冊準減創劃劇勞勝協參雜吳啟嗎嘗嚴國園圓圍場塊壞壽夢媽孫審寧寶屬歲島幣師帶庫廢廣強彈徑態慣憑懷戲"
    "戰拋掃掛採損搶擁擔擬擺攜攝敗敘數斷暫曆術來極構樹橋欄歡歷決沒況滅濾灣熱營爭爲牆狀獎獲環當畫異盡監礎種稱積穩範築籤"
    "糾紅紙細終統絕經維線練績繪繳繼羅義聯聲臨興舉葉衛裝見親觀觸計討訓託許訴診評詢詩誌誠調諮講謝譜負財貢責貴質賓賬趙軟"
    "輛辦辭違週遊郵鄉釘針鐘鍵陳陸陽階雖靈飲養驚髮鬧麥丟傳儲劉楊鄭馮"
)
_SIMPLIFIED: Final = (
    "东删动档资夹寻还复制权给请帮烦么编辑写读译润饰缩说话总结个这里里会议录体检报归类与从开关于过为将扩标题节页内谁无"
    "号变换讯单书纪条规简笔记载点专压产续后对应们样让进优并丽补项该云盘几张旧问务现确认边际图订购导测试实运费钱帐户证"
    "据紧组长输连达远选择锁门难飞马黄齐销复阅览较区别发约签价额业员离职银税货车码电脑机网频视听觉学习课论谈护医药疗验"
    "礼庆团队级层楼厅柜钥满万亿两双只头颜显预须顺顾愿风饭馆鱼错误词语详贴猫买卖赠赶迹转轻辅农迟遗适邻释闭间随险隐静响"
    "领馈骤松龄处备仅尽册准减创划剧劳胜协参杂吴启吗尝严国园圆围场块坏寿梦妈孙审宁宝属岁岛币师带库废广强弹径态惯凭怀戏"
    "战抛扫挂采损抢拥担拟摆携摄败叙数断暂历术来极构树桥栏欢历决没况灭滤湾热营争为墙状奖获环当画异尽监础种称积稳范筑签"
    "纠红纸细终统绝经维线练绩绘缴继罗义联声临兴举叶卫装见亲观触计讨训托许诉诊评询诗志诚调咨讲谢谱负财贡责贵质宾账赵软"
    "辆办辞违周游邮乡钉针钟键陈陆阳阶虽灵饮养惊发闹麦丢传储刘杨郑冯"
)
_SCRIPT: Final = str.maketrans(_TRADITIONAL + "‘’", _SIMPLIFIED + "''")
_SLIPS: Final = {
    "山除": "删除",
    "删处": "删除",
    "删初": "删除",
    "移东": "移动",
    "移冻": "移动",
    "搜素": "搜索",
    "收索": "搜索",
    "搜所": "搜索",
    "查早": "查找",
    "冲命名": "重命名",
    "重名命": "重命名",
    "从命名": "重命名",
    "共想": "共享",
    "分想": "分享",
    "撤消": "撤销",
    "撒销": "撤销",
    "新键": "新建",
    "新健": "新建",
    "恢服": "恢复",
    "复治": "复制",
    "总节": "总结",
    "翻绎": "翻译",
    "归挡": "归档",
    "yixia": "一下",
    "重新命名": "重命名",
    "资料夹": "文件夹",
    "档案": "文件",
}
"""Verbs as a Chinese keyboard misspells them, by sound; and their names elsewhere."""
_CLIPPED: Final = re.compile(r"\b(what|where|who|how|when|that)s\b")
_PICTURES: Final = re.compile("[\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]")
_SLIP: Final = re.compile("|".join(_SLIPS))

_MASKS: Final = (
    (
        re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|《[^》]*》|`[^`]*`|(?<![^\W_])'[^'\n]{1,400}'(?![^\W_])"),
        QUOTE,
    ),
    (re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,80}", re.ASCII), MAIL),
    (
        re.compile(
            r"(?<![\w/.-])[\w/.-]{0,80}(?<=\w)\.(?:[a-z][a-z0-9]{1,4}|7z|md)(?![\w.]*\w)"
            r"|(?<=[把将为成叫和与跟、])(?:(?!改[名成为叫]|命名|换成|存[为成])[^\sA-Z.,，。、;；:：!！?？从到里和把将给]){1,16}\.[a-z][a-z0-9]{1,4}(?![a-z0-9])"
            r"|(?<=[\u3400-\u9fff)])\.[a-z][a-z0-9]{1,4}(?![a-z0-9])",
            re.ASCII,
        ),
        FILE,
    ),
)
_DICTATED: Final = re.compile(
    r"\b(?:that says|saying|which says|with (?:the )?(?:content|text|words|body)|containing"
    r"|content)\s*:?\s+(?:QUOTE|.*)"
    r"|(?:内容|正文)(?:写|是|为|如下)?\s*[:：,，]\s*(?:QUOTE|.*)|里面写(?:着|上)?\s*[:：]\s*(?:QUOTE|.*)"
    r"|((?:下面|以下)(?:这|的|内容)[^:：]{0,40})[:：].*",
    re.DOTALL,
)
_ASIDE: Final = re.compile(
    r"\b(?:before|after|while|until|once|when(?:ever)?|if) (?:i|we|you) (?:get|have|find|got) (?:a|some|any|the)?"
    r" ?(?:chance|minute|moment|sec(?:ond)?|time)[,;]?|(?:if you don't mind|if possible|if you can|no rush)(?:[,;]|$)"
    r"|(?:有空|有时间|方便|可以|可能|行)的话[,，]?|如果(?:方便|可以|有空|有时间)(?:的话)?[,，]?|方便时"
    r"|\b(?:before|after|while|until|once) (?:i|we|you) [^,;.]{1,60}?(?:[,;.]|(?= (?:i|we) (?:want|need|would"
    r"|have to)\b))"
)

_BASIS: Final = re.compile(r"\b(according to [^,]{1,60}),|((?:根据|按照|依照)[^,，]{1,16})[,，]")
"""The place of an answer, said before the question."""
_ASKED_KINDLY: Final = re.compile(
    r"(?:[你您]?(?:能不能|能否|能|可不可以|可以))(?:请|麻烦)?(?:你|您)?(?:帮|给我|把|将).*吗$"
)
_CHINESE_NEXT: Final = "把将分共删移挪改发总概翻保存复重归放告通压打下上转找搜查给让新建创恢追写添补译撤生授扔丢"
_CUTS: Final = re.compile(
    rf"(?<!\d),|,(?!\d{{3}}(?!\d))|[;，；。:：!！?？…\n~～]|\.(?:\s|$)"
    rf"|\b(?:and )?(?:then|after that|afterwards|also|plus)\b"
    rf"|然后|接着|之后|同时|(?:(?<!合)并且?|(?<![要别不勿用必许想会能准])再)(?=[{_CHINESE_NEXT}]| ?[a-z])"
    rf"|(?=帮我(?:找|搜|查|删|移))"
    rf"|(?=(?<=\S )(?<!what )(?<!how )(?<!which )(?:can|could|would) (?:you|u)\b)"
)
_NAMING: Final = re.compile(r"\b(?:how to|(?:about|on|for) \w+ing|called|named|titled)\b")
_PRONOUN_NEXT: Final = re.compile(r"[a-z]+ (?:it|them|these|those)\b")
_PRONOUN: Final = re.compile(
    r"\S+(?: \S+)? (?:it|them|this|that|those|these|the (?:result|summary|answer)s?)\b"
    r"|\S+ .*\b(?:in|into|to|inside) (?:it|them|there)$"
)

_COURTESY: Final = re.compile(
    r"(?:(?:hi|hey|hello|ok|okay|so|well|basically|actually|now|first|finally|next|and|but|just|only|simply"
    r"|please|pls|plz"
    r"|kindly|quickly|permanently|definitely|immediately|instead|there|yo|um|uh|hmm|thx|can someone"
    r"|(?:can|could|would|will|cd) (?:you|u"
    r"|ya)(?: kindly| maybe| just)?"
    r"|i(?:'d| would) (?:really |so )?(?:appreciate|love|be grateful|be glad) (?:it )?if you (?:could|would|can)"
    r"|it(?:'d| would) be (?:really |so )?(?:great|nice|good|lovely|helpful|cool|awesome|kind) if you (?:could"
    r"|would|can)"
    r"|i was (?:wondering|hoping) (?:if )?you (?:could|would|can|might)|any chance (?:that )?you (?:could|can)"
    r"|could i (?:get|ask) you to|be so kind (?:and|as to)|(?:a )?quick (?:q|question|one)(?: -)?|q -"
    r"|would (?:it be (?:possible|ok|okay|alright) (?:for you )?to|you be able to|you be so kind as to)"
    r"|would you mind|do me a favou?r|i(?:'d| would) (?:like|love) (?:you )?to|i (?:want|need|wanna)(?: you)?(?: to)?"
    r"|go ahead and|help me(?: to)?|let's|lets|know|find out(?= who)|check(?= who)|see(?= who)|tell me"
    r"|let me know|to|in it)(?=\s|$)[\s]*"
    r"|(?:请问|请你|请|麻烦(?:你|您)?|劳烦|烦请|有劳|求求?你|劳驾|拜托|帮我|帮忙|帮|给我|给咱们?|[你您]?能不能|[你您]?能否|[你您]?可不可以|可以|你能|您能"
    r"|能|我想请你|我想要?|我要|我需要"
    r"|我希望你?|想|需要|那个|那就|那么|先|再|然后|最后|顺便|但是?|不过|直接|快点?|现在|另外|还有|并且|并|也|只(?:要|需要?)?(?![读能可])|都|把它?就|告诉我"
    r"|说说|全部|嗨|你好|您好|喂)\s*)+"
)
_TAIL: Final = re.compile(
    r"[\s,]*(?:(?<![a-z])(?:please|pls|plz|thanks|thank you|thx|ty|for me|now|asap|will you|ok)|谢谢你?|谢啦|多谢|好吗"
    r"|好么|可以吗|行吗|吧|呗|哦|啊|呀|啦|哈|嘛)+$"
)
_NEGATED: Final = re.compile(
    r"(?:do not|don't|dont|never|no need to|not|without|rather than|instead of|nothing)\b"
    r"|(?:i|we) (?:do not|don't|dont|didn't|never) (?:want|need|ask|mean|wish)"
    r"|(?:千万|先|可)?(?:不要|别(?![人的处家墅称名])|不用|不必|请勿|勿|不许|禁止|无需|不需要|不想|不是|不准|甭|暂?不(?=[删移动复共分发清重归]))|我(?:不想|不要|没让|不是要)"
)


def prepare(text: str) -> str:
    """Return the text in one script, in lower case, with quotations, dictations and names as marks."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_SCRIPT)
    folded = _CLIPPED.sub(r"\1's", _PICTURES.sub(" ", folded))
    for pattern, mark in _MASKS:
        folded = pattern.sub(f" {mark} " if mark is QUOTE else mark, folded)
    folded = _SLIP.sub(lambda slip: _SLIPS[slip.group()], folded)
    return " ".join(_ASIDE.sub(" ", _BASIS.sub(r"\1\2 ", _DICTATED.sub(r"\1", folded))).split())


def clauses(prepared: str, verbs: frozenset[str]) -> tuple[str, ...]:
    """Cut a prepared text where one request ends and the next begins; `verbs` are the words that begin one."""
    parts = (part for piece in _CUTS.split(prepared) for part in _cut_at_and(piece or "", verbs))
    return tuple(filter(None, (part.strip(" -()'\"") for part in parts)))


def _cut_at_and(piece: str, verbs: frozenset[str]) -> list[str]:
    """Cut at "and" before a verb; a name or a topic may hold verbs ("how to move and share") and is left whole."""
    parts = [""]
    for part in re.split(r"(?:\band\b|&)", piece):
        follows = part.strip()
        first = follows.split(" ", 1)[0]
        splits = first in verbs or correct(first, verbs) in verbs or _PRONOUN_NEXT.match(follows) is not None
        if _NAMING.search(parts[-1]) and not _PRONOUN.match(follows):
            splits = False
        if splits:
            parts.append(follows)
        else:
            parts[-1] = f"{parts[-1]} and {follows}" if parts[-1] else follows
    return parts


def bare(clause: str) -> str:
    """Return the clause without courtesies at either end."""
    return clause[slice(*bare_span(clause))].strip()


def bare_span(clause: str) -> tuple[int, int]:
    """Return where in a clause the request stands, without courtesies at either end."""
    asked = clause.removesuffix("吗") if _ASKED_KINDLY.match(clause) else clause
    polite = _COURTESY.match(asked)
    start = polite.end() if polite else 0
    tail = _TAIL.search(asked, start)
    return start, tail.start() if tail else len(asked)


def _strip_courtesy(clause: str) -> str:
    found = _COURTESY.match(clause)
    return clause[found.end() :].lstrip() if found else clause


def is_negated(clause: str) -> bool:
    """Say whether the clause asks that something not be done."""
    return _NEGATED.match(_strip_courtesy(clause)) is not None or _NEGATED.match(clause) is not None


_REAL_WORDS: Final = (
    "remote shape stare spare snare shard shark sharp scare hare crash brash crate inset deplete starch shores emptied"
    " shorter research resort resume paste"
)
"""One letter from a verb, and meant."""
SHORTEST_MISSPELT: Final = 4


def correct(word: str, verbs: frozenset[str]) -> str:
    """Return the verb that a misspelt word is one slip away from, or the word; short ones only by a swap."""
    if word in verbs or len(word) < SHORTEST_MISSPELT or not (word.isascii() and word.isalpha()):
        return word
    return _slips(verbs).get(word, word)


@cache
def _slips(verbs: frozenset[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for verb in sorted(verbs):
        if len(verb) >= SHORTEST_MISSPELT and verb.isalpha():
            made |= {slip: verb for slip in _one_slip(verb) if slip not in made}
    return {slip: verb for slip, verb in made.items() if slip not in verbs and slip not in _REAL_WORDS.split()}


def _one_slip(verb: str) -> set[str]:
    """Damerau's four slips; none that only adds an ending, which is another form of the verb and no slip."""
    cuts = [(verb[:place], verb[place:]) for place in range(len(verb) + 1)]
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    if len(verb) == SHORTEST_MISSPELT:
        return swapped - {verb}
    letters = "abcdefghijklmnopqrstuvwxyz"
    dropped = {head + tail[1:] for head, tail in cuts[1:] if tail}
    doubled = {head + letter + tail for head, tail in cuts[1:] if tail for letter in letters}
    changed = {head + letter + tail[1:] for head, tail in cuts[1:] if tail for letter in letters}
    return (swapped | dropped | doubled | changed) - {verb}
