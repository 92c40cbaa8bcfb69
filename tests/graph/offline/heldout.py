"""Utterances that no pattern was written for: made after the patterns were finished, and never used to change them.

The rate at which they are understood is what to expect of people's own words; see `test_heldout.py`.
"""

from tests.graph.offline.cases import said

UTTERANCES = [
    said("Do you know which file has the Wi-Fi setup steps?", "find"),
    said("Please fetch the minutes of the last board meeting", "find"),
    said("I'd appreciate a quick rundown of security.pdf", "summarise", target="security.pdf"),
    said("What's the gist of our hiring guide?", "summarise"),
    said("Until what time is the reception open?", "ask"),
    said("Does anybody know whether we reimburse taxi rides?", "ask"),
    said("Let me have a look inside the Marketing folder", "list_folder", target="Marketing"),
    said("Which things are stored in Backups?", "list_folder", target="Backups"),
    said("Put together a folder named Onboarding for me", "create_folder", names=("Onboarding",)),
    said("Could we have a new directory 'Q4 planning' inside Projects?", "create_folder", names=("Q4 planning",)),
    said("jot down 'buy stamps' in errands.txt", "create_file", names=("errands.txt",), content="buy stamps"),
    said("letter.docx should from now on be named letter-final.docx", "rename", names=("letter-final.docx",)),
    said("Please take scan.pdf over to the Receipts folder", "move", target="scan.pdf", destination="Receipts"),
    said("all the pdfs in Inbox belong in Papers", "move", destination="Papers"),
    said("maria@example.org ought to be able to read thesis.md", "share", target="thesis.md", role="viewer"),
    said("open up the Photos folder for dad@example.net and mum@example.net", "share", target="Photos"),
    said("Is anyone besides me able to see diary.txt?", "list_shares", target="diary.txt"),
    said("tom@example.com has left the company, so take him off roadmap.md", "revoke", emails=("tom@example.com",)),
    said("Could you tidy away old-draft.md into the trash", "trash", target="old-draft.md"),
    said("the Temp folder can go", "trash", target="Temp"),
    said(
        "please swap every 'Smith' for 'Schmidt' in this letter",
        "replace",
        file_open=True,
        edits=(("Smith", "Schmidt"),),
    ),
    said("scratch that, I want it the way it was before", "undo"),
    said("谁知道无线网络的设置步骤在哪个文件里?", "find"),
    said("把上次董事会的会议记录给我找来", "find"),
    said("security.pdf大概说了些什么内容?", "summarise", target="security.pdf"),
    said("给我讲讲招聘指南的重点", "summarise"),
    said("前台开到几点?", "ask"),
    said("打车费能报销吗", "ask"),
    said("我想看看市场文件夹里面有些什么", "list_folder", target="市场"),
    said("备份目录存了哪些文件", "list_folder", target="备份"),
    said("帮忙弄一个叫“入职”的文件夹", "create_folder", names=("入职",)),
    said("在errands.txt里记下“买邮票”", "create_file", names=("errands.txt",), content="买邮票"),
    said("信.docx以后就叫信终稿.docx吧", "rename", names=("信终稿.docx",)),
    said("麻烦把扫描件.pdf收到收据文件夹里", "move", target="扫描件.pdf", destination="收据"),
    said("让maria@example.org看得到论文.md", "share", target="论文.md", role="viewer"),
    said("除了我还有别人能看日记.txt吗", "list_shares", target="日记.txt"),
    said("tom@example.com离职了,别让他再看路线图.md", "revoke", emails=("tom@example.com",)),
    said("旧草稿.md可以丢进回收站了", "trash", target="旧草稿.md"),
    said("信里的“史密斯”一律改成“施密特”", "replace", file_open=True, edits=(("史密斯", "施密特"),)),
    said("当我没说,变回之前的样子", "undo"),
]
