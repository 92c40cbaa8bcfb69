"""Chinese utterances with what they mean; written before the patterns."""

from tests.graph.offline.cases import said

FINDING = [
    said("找到关于育儿假的文档", "find", query="育儿假"),
    said("帮我搜索一下第三季度预算", "find", query="第三季度预算"),
    said("年度报告在哪里?", "find", query="年度报告"),
    said("请查找合同.docx", "find", query="合同.docx"),
    said("有没有关于保险的文件", "find", query="保险"),
    said("哪些文档提到了容器化?", "find", query="容器化"),
    said("我想找一下上周的会议纪要", "find", query="上周的会议纪要"),
    said("麻烦帮我找找简历", "find", query="简历"),
    said("能不能查一下差旅报销相关的资料", "find", query="差旅报销"),
    said("我的护照扫描件放哪儿了", "find", query="护照扫描件"),
]

SUMMARISING = [
    said("找到关于育儿假的文档并总结一下", "summarise", target="about 育儿假"),
    said("总结一下这份文档", "summarise", file_open=True, target="current file"),
    said("请帮我概括路线图.md的要点", "summarise", target="路线图.md"),
    said("这篇文章讲了什么?", "summarise", file_open=True, target="current file"),
    said("员工手册主要说了些什么", "summarise", target="员工手册"),
    said("给我一份关于远程办公的文档的摘要", "summarise", target="about 远程办公"),
    said("我们的育儿假政策是怎么说的?", "summarise", target="about 育儿假政策"),
    said("把年度报告归纳成几句话", "summarise", target="年度报告"),
    said("查找安全规范,然后简单概述一下", "summarise", target="安全规范"),
]

ASKING = [
    said("年假有几天?", "ask"),
    said("育儿假可以休多少周", "ask"),
    said("核心工作时间是什么时候?", "ask"),
    said("谁负责审批差旅费用?", "ask"),
    said("试用期员工能不能远程办公?", "ask"),
    said("访客的无线密码是什么", "ask"),
    said("请问申请育儿假需要提前多久通知?", "ask"),
    said("文档里有没有提到通知期限?", "ask", file_open=True),
]

READING = [
    said("读一下计划.md", "read", target="计划.md"),
    said("打开会议纪要", "read", target="会议纪要"),
    said("给我看看“待办事项.txt”的内容", "read", target="待办事项.txt"),
    said("显示这份文档的全文", "read", file_open=True, target="current file"),
]

LISTING = [
    said("报告里有什么?", "list_folder", target="报告"),
    said("列出报告文件夹里有什么文件", "list_folder", target="报告"),
    said("看看旧资料文件夹里都有哪些东西", "list_folder", target="旧资料"),
    said("我有哪些文件?", "list_folder", target="current folder"),
    said("列出这个文件夹的内容", "list_folder", target="current folder"),
    said("显示Old目录下的所有文件", "list_folder", target="Old"),
    said("显示文件夹结构", "tree", target="current folder"),
    said("视频.mp4有多大?", "info", target="视频.mp4"),
    said("计划.md是什么时候修改的", "info", target="计划.md"),
]

CREATING = [
    said("新建文件夹报告", "create_folder", names=("报告",)),
    said("请帮我创建一个名为“第三季度”的文件夹", "create_folder", names=("第三季度",)),
    said("建一个叫旅行的文件夹", "create_folder", names=("旅行",)),
    said("新建一个发票文件夹", "create_folder", names=("发票",)),
    said("在项目里新建文件夹2025", "create_folder", names=("2025",), destination="项目"),
    said("新建三个文件夹:一月、二月和三月", "create_folder", names=("一月", "二月", "三月")),
    said("新建文件待办.md,内容是买牛奶", "create_file", names=("待办.md",), content="买牛奶"),
    said("写一个名为想法.md的笔记,写上“给安打电话”", "create_file", names=("想法.md",), content="给安打电话"),
    said("把“你好世界”保存为问候.txt", "create_file", names=("问候.txt",), content="你好世界"),
]

ORGANISING = [
    said("把计划.md重命名为路线图.md", "rename", target="计划.md", names=("路线图.md",)),
    said("将文件夹Old改名为归档", "rename", target="Old", names=("归档",)),
    said("这个文件改名叫最终版.md", "rename", file_open=True, target="current file", names=("最终版.md",)),
    said("把计划.md移到归档", "move", target="计划.md", destination="归档"),
    said("请将笔记.txt放进旧资料文件夹", "move", target="笔记.txt", destination="旧资料"),
    said("把它移到那里", "move", target="it", destination="there"),
    said("移动a.md和b.md到报告", "move", target="a.md + b.md", destination="报告"),
    said("把收件箱里的所有文件都挪到归档里", "move", target="* in 收件箱", destination="归档"),
    said("把下载里的pdf文件移动到论文文件夹", "move", target="*.pdf in 下载", destination="论文"),
]

SHARING = [
    said("把计划.md共享给bob@example.com", "share", target="计划.md", emails=("bob@example.com",), role="viewer"),
    said("共享给bob@example.com,可编辑", "share", target="it", role="editor"),
    said("让bob@example.com可以编辑计划.md", "share", target="计划.md", role="editor"),
    said("给ann@x.org报告文件夹的查看权限", "share", target="报告", role="viewer"),
    said("请把路线图.md分享给bob@example.com和eve@example.com", "share", emails=("bob@example.com", "eve@example.com")),
    said("邀请eve@example.com一起编辑预算.xlsx", "share", target="预算.xlsx", role="editor"),
    said("把计划.md发给bob@example.com", "share", target="计划.md"),
    said("把计划共享给小王", "share", target="计划", emails=(), person="小王"),
    said("谁可以访问计划.md?", "list_shares", target="计划.md"),
    said("报告文件夹共享给了谁", "list_shares", target="报告"),
    said("查看这份文档的共享情况", "list_shares", file_open=True, target="current file"),
    said("取消计划.md对bob@example.com的共享", "revoke", target="计划.md", emails=("bob@example.com",)),
    said("撤销bob@example.com对报告的访问权限", "revoke", target="报告", emails=("bob@example.com",)),
    said("不要再把Old共享给eve@x.org", "revoke", target="Old", emails=("eve@x.org",)),
]

DELETING = [
    said("删除Old里的所有内容", "trash", target="* in Old"),
    said("把Old文件夹清空", "trash", target="* in Old"),
    said("清空旧资料文件夹", "trash", target="* in 旧资料"),
    said("删掉草稿.md", "trash", target="草稿.md"),
    said("请把文件夹Old删除", "trash", target="Old"),
    said("把Old里的东西全部删掉", "trash", target="* in Old"),
    said("草稿.md不需要了,删了吧", "trash", target="草稿.md"),
    said("将a.md、b.md和c.md移到回收站", "trash", target="a.md + b.md + c.md"),
    said("帮我扔掉旧发票", "trash", target="旧发票"),
    said("恢复计划.md", "restore", target="计划.md"),
    said("从回收站还原预算.xlsx", "restore", target="预算.xlsx"),
    said("把草稿.md找回来", "restore", target="草稿.md"),
]

EDITING = [
    said("计划.md有哪些版本", "list_versions", target="计划.md"),
    said("查看历史版本", "list_versions", file_open=True, target="current file"),
    said("恢复到版本2", "restore_version", file_open=True, target="current file", version=2),
    said("把计划.md回退到第3版", "restore_version", target="计划.md", version=3),
    said("这份文档退回上一个版本", "restore_version", file_open=True, version=-1),
    said("把这份文档里的30天改成45天", "replace", file_open=True, target="current file", edits=(("30天", "45天"),)),
    said("将“甲方”全部替换为“乙方”", "replace", file_open=True, edits=(("甲方", "乙方"),)),
    said("文中的2023都换成2024", "replace", file_open=True, edits=(("2023", "2024"),)),
    said("用“假期”替换“休假”", "replace", file_open=True, edits=(("休假", "假期"),)),
    said("把计划.md里的三月改为四月", "replace", target="计划.md", edits=(("三月", "四月"),)),
    said("删除文中的“非常”这个词", "replace", file_open=True, edits=(("非常", ""),)),
    said("在文末加上“下次再见。”", "insert", file_open=True, content="下次再见。", position="end"),
    said("在文档开头插入一行“草稿”", "insert", file_open=True, content="草稿", position="start"),
    said("末尾补充一句:五月再开会。", "insert", file_open=True, content="五月再开会。", position="end"),
]

TAKING_BACK = [
    said("撤销刚才的操作", "undo"),
    said("恢复原样", "undo"),
    said("撤销", "undo"),
    said("刚才弄错了,请撤回", "undo"),
    said("把刚刚的改动还原", "undo"),
    said("最近有什么改动?", "list_changes"),
    said("你刚才做了什么", "list_changes"),
    said("查看最近的操作记录", "list_changes"),
]

TALKING = [
    said("我是谁", "whoami"),
    said("当前登录的是哪个账号?", "whoami"),
    said("你是谁?", "identity"),
    said("你是什么模型", "identity"),
    said("你能做什么?", "help"),
    said("帮助", "help"),
    said("你好", "greet"),
    said("早上好!", "greet"),
    said("谢谢你", "thanks"),
    said("给我写一首关于秋天的诗", "beyond"),
    said("把这份文档翻译成英文", "beyond", file_open=True),
    said("今天天气怎么样", "beyond"),
    said("帮我润色一下这份文档", "beyond", file_open=True),
    said("彻底删除计划.md", "beyond"),
]

JOINED = [
    said(
        "新建文件夹报告,把总结移到那里,并共享给bob@example.com",
        "create_folder",
        "move",
        "share",
        target="the summary",
        emails=("bob@example.com",),
    ),
    said("找到路线图然后共享给bob@example.com", "find", "share", target="路线图"),
    said("新建文件夹旅行并把行程.md移进去", "create_folder", "move", destination="旅行"),
    said("总结路线图.md,再把总结保存到报告", "summarise", "save_summary", destination="报告"),
    said("把草稿.md改名为终稿.md,然后分享给ann@x.org", "rename", "share", target="终稿.md"),
    said("先建个文件夹归档,再把a.md放进去,最后删除b.md", "create_folder", "move", "trash", target="b.md"),
    said("把文中的2023改成2024,并共享给bob@example.com", "replace", "share", file_open=True, target="current file"),
    said("把计划.md共享给bob@example.com,让他可以编辑", "share", role="editor"),
]

UTTERANCES = [
    *FINDING,
    *SUMMARISING,
    *ASKING,
    *READING,
    *LISTING,
    *CREATING,
    *ORGANISING,
    *SHARING,
    *DELETING,
    *EDITING,
    *TAKING_BACK,
    *TALKING,
    *JOINED,
]
