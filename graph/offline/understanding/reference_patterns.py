"""How people refer to things, as data: (form, kind of item, pattern). The first that matches a whole phrase counts."""

from typing import Final

from graph.state import Language

REFERENCES: Final[dict[Language, tuple[tuple[str, str, str], ...]]] = {
    "en": (
        (
            "all",
            "",
            "{the}(everything|anything|stuff|things|whatever|whatever is|what's|what is|all|the lot|it all|all of "
            "it)[ that]( is| are|'s| sits?| lives?| lies?| lie| resides?| remains?|)( stored| saved| kept| located|"
            ") (in|inside|from|under|of|within|out of) <inside>",
        ),
        (
            "all",
            "",
            "(everything|anything|stuff|things|whatever|all|the lot) (in|inside|from|under|of|within|out of) <inside>",
        ),
        ("all", "", "{the}[(whole|entire|full|complete) ](contents?|insides) (of|in|from) <inside>"),
        ("all", "", "<inside>'s (whole |entire |)contents?"),
        (
            "all",
            "",
            "(all|every|each|any) {the}[of the ]<ext:extension>[ {doc}] (in|inside|from|under|of|within|out of) "
            "<inside>",
        ),
        (
            "all",
            "",
            "(all|every|each|any) [of ]{the}[of the ](files and folders|{doc}|things|stuff|contents?)[ that]( is| "
            "are|) (in|inside|from|under|of|within|out of) <inside>",
        ),
        ("all", "", "{the}<ext:extension> (files|documents|docs) (in|inside|from|under|of|within|out of) <inside>"),
        (
            "all",
            "",
            "{the}(files and folders|files|documents|docs|items|things|contents?|notes)[ that]( is| are| sits?| "
            "sit| lives?| lies?| lie|) (in|inside|from|under|of|within|out of) <inside>",
        ),
        ("all", "", "(all|every) {the}<ext:extension>[ {doc}]"),
        ("all", "", "<ext:extension> (files|documents)"),
        ("all", "", "(all|every) {the}(files|documents|items|things|stuff)"),
        (
            "name",
            "folder",
            "{the}({folder} )?<text>( {folder})? and (everything|all|all files|its contents?|all its contents?|"
            "whatever is)( in it| inside it| inside| in there| below it|)",
        ),
        (
            "about",
            "",
            "{the}[{doc} ](one|something|anything|info|information|stuff|material|everything) {about} <text>",
        ),
        ("about", "", "{the}{doc} {about} <text>"),
        ("about", "", "anything {about} <text>"),
        ("about", "", "{the}<text>-related {doc}"),
        ("about", "", "{the}{doc} (where|in which|that says|which says|saying|that has|with) <text>"),
        ("name", "folder", "{the}[new |existing |other |whole ]{folder} {called} <text>"),
        ("name", "folder", "{the}[new |existing |other |whole ]{folder}:? <text>"),
        ("name", "file", "{the}[new |existing |other |whole ]{doc} {called} <text>"),
        ("name", "folder", "{the}<text> {folder}"),
        (
            "name",
            "file",
            "{the}[new |existing |other |whole ](file|document|doc|note|pdf|spreadsheet|text file):? <text>",
        ),
        ("name", "file", "{the}<text> (file|document|doc)"),
        ("inside", "", "{the}<text:named> (in|inside|within|under|from|of) <inside>"),
        ("inside", "", "{the}<text> (inside|within|in|under) <inside>"),
        ("inside", "", "{the}<text> from {the}<inside:named>"),
        ("inside", "", "{the}<text> from {the}(folder <inside>)"),
        ("name", "", "{the}<text>"),
    ),
    "zh": (
        (
            "name",
            "folder",
            "{folder}?<text>({folder})?(和|以及|及|跟|连同|与)(它|其)?(里面|里|其中|内)的?({all})?的?({stuff})",
        ),
        ("name", "", "(刚才|刚刚|之前|我)?(删掉|删除|被删|误删|丢失|删了)的<text>"),
        ("all", "", "<inside>[{folder}]{inside}的?{all}的?<ext:extension>(格式)?的?{stuff}?[都|全都|全部|全|统统]"),
        ("all", "", "<inside>[{folder}]{inside}的?<ext:extension>(格式)?的?{stuff}[都|全都|全部|全|统统]"),
        ("all", "", "<inside>[{folder}]{inside}的?{all}的?[{stuff}][和文件夹|以及文件夹][都|全都|全部|全|统统]"),
        ("all", "", "<inside>[{folder}]{inside}的?{stuff}[都|全都|全部|全|统统]"),
        ("all", "", "<inside>{folder}的?({all}的?{stuff}|内容|全部|所有)[都|全都|全部|全|统统]"),
        ("all", "", "{all}的?<ext:extension>(格式)?的?{stuff}[都|全都|全部|全|统统]"),
        ("all", "", "{all}的?(文件|内容|东西|文档|资料)[都|全都|全部|全|统统]"),
        (
            "about",
            "",
            "[我的|我们的|那|这]{one}[所有|全部|任何|一些]{about}<text>的?[那|这]{one}({doc}|内容|信息|东西|说明|"
            "规定|部分)?",
        ),
        ("about", "", "[我的|我们的|那|这]{one}<text>(相关|有关|方面|的相关)的?({doc}|内容|信息|东西|说明|规定)"),
        ("name", "folder", "[那|这]{one}{called}<text>的?({folder})"),
        ("name", "file", "[那|这]{one}{called}<text>的?({doc})"),
        ("inside", "", "{folder}<inside>(里面|里|中|内|下面|下|底下)的?<text>"),
        ("name", "folder", "[那|这]{one}{folder}{called}?[:]?<text>"),
        ("name", "file", "[那|这]{one}(文件|文档|笔记){called}?[:]?<text>"),
        ("inside", "", "<inside>[{folder}](里面|里|中|内|下面|下|底下)的?<text>"),
        ("inside", "", "<inside>{folder}的<text>"),
        ("name", "folder", "[我的|我们的]<text>[这个|那个|的]({folder})[里面|里|中|内|下|下面|当中|之中]?"),
        ("name", "file", "[我的|我们的]<text>(这个|那个|这份|那份|的)(文件|文档|笔记)"),
        ("name", "", "[我的|我们的|那个|这个|那份|这份|该]<text>[都|全都|全部|统统]?"),
    ),
}
