"""Chinese: signs of what is wanted, wherever they stand in a sentence. Tried when no pattern fits the whole of it."""

from typing import Final

from graph.offline.understanding.intents import LIKELY
from graph.offline.understanding.patterns.row import Row, row

ROWS: Final[tuple[Row, ...]] = (
    *row(
        "replace",
        "<_:rest>不(是|该是|应该是|应是)<find>[,](而|应该|应)?(是|该是|应是)<replace>[,](请|麻烦|帮忙|帮我)?(改|"
        "修改|改正|更正|改一下|修改一下)?[一下|过来|掉]",
        "<_:rest>(写|用|写成|改成)<replace:quote>[,](而)?(不是|不要|代替|别用|不用)<find:quote><_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "list_shares",
        "<_:rest>(谁|哪些人|别人|什么人|有人)<_:rest>(访问|看|查看|编辑|打开|权限|修改|进入|"
        "进)<_:rest><target:item><_:rest>",
        "<target:item><_:rest>(共享|分享|开放)<_:rest>(谁|哪些人|什么人|别人)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "list_versions",
        "<_:rest><target:item><_:rest>(旧|历史|以前的|之前的|早期)(版本|版)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "restore_version",
        "<_:rest>第<n:number>(个)?(版本|版)<_:rest>(恢复|还原|换回|改回|用回|回到|找回)<_:rest>",
        "<_:rest>(恢复|还原|换回|改回|用回|回到|找回)<_:rest>第<n:number>(个)?(版本|版)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "list_changes",
        "<_:rest><target:item><_:rest>(哪些|什么|啥)(改动|变化|修改|变更|变动)<_:rest>",
        "<_:rest>(最近|今天|昨天|这周|上周|近期|刚才)<_:rest>(改动|变化|修改|变更|变动|改了|动了|改过)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "restore",
        "<_:rest><target:item><_:rest>(回收站|垃圾桶)<_:rest>(拿|取|捞|恢复|还原|移|弄|找)(出来|回来|出|回)?<_:rest>",
        "<_:rest>(误删|删错|不小心删)(了)?<target:item><_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "create_folder",
        "<_:rest>(需要|想要|要|建|新建|创建|加|弄|开)(一个|个)?(新的?)?({called})<names>的({folder})<_:rest>",
        "(在|往|给)<destination>({folder})?({inside})?(再)?(建|新建|创建|加|弄|开|添加|放)(一个|"
        "个)?(新的?)?<names>的?({folder})",
        confidence=LIKELY,
    ),
    *row(
        "rename",
        "<_:rest><target:item><_:rest>(改名|改成|改为|改叫|换成|叫做|叫|重命名)(叫|为|成)?<name:fileword><_:rest>",
        "<target>({folder})(能|可以|能不能|可不可以|要|应该|得|请)*(改名|改成|改为|重命名)(叫|为|成)?<name>",
        confidence=LIKELY,
    ),
    *row(
        "move",
        "<_:rest><target:item><_:rest>(应该|要|该|得)(放|移|在|归)(在|到|进|入)?<destination>",
        confidence=LIKELY,
    ),
    *row(
        "trash",
        "<_:rest>(删除|删掉|扔掉|丢掉|删了|移除)<target:item><_:rest>",
        "<_:rest><target:item><_:rest>(删除|删掉|扔掉|丢掉|删了|移除|扔了|不要了)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "summarise",
        "<_:rest>(总结|概括|摘要|要点|重点|精简版|简版|简短版|大意|主要内容)<_:rest><target:item><_:rest>",
        "<_:rest><target:item><_:rest>(总结|概括|摘要|要点|重点|精简版|简版|简短版|大意|主要内容|讲了什么|"
        "说了什么)<_:rest>",
        "<_:rest><target:currentlike>的?(精简版|简版|简短版|要点|重点|大意|主要内容|摘要)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "list_folder",
        "<target>({folder})({inside})?(还|都|总共|一共|到底)?(有|放|存|装)(了|着)?(些)?(什么|哪些|啥|多少)<_:rest>",
        "<_:rest>(看看|看一下|列|查看|有什么|有哪些)<_:rest><target:folderitem><_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "find",
        "(我)?(把)?<query>(放|存|搁|丢|保存|收)(到|在|进)?(了)?(哪|哪里|哪儿|哪个文件夹|哪个目录|"
        "什么地方)(里)?(去)?(了)?",
        "(我|我们)?(写|记|存|保存)(过|了|下)(哪些|什么|些什么)?(关于|有关)<topic>的?(东西|内容|文档|文件|笔记)?",
        confidence=LIKELY,
    ),
    *row("undo", "<_:rest>(撤销|撤回|撤消|回滚)(一下|它|吧|掉|回去)?<_:little>", confidence=LIKELY),
)
