"""Forty utterances written after the last pattern, and never used to change one.

The rate at which they are understood is what to expect of people's own words; `test_heldout.py` reports it.
"""

from tests.graph.offline.cases import said

UTTERANCES = [
    said("Can you check if we have a document that explains the onboarding process?", "find"),
    said("Show me where the lease agreement is", "find", query="lease agreement"),
    said("Please look for a paper on sick leave and give me a brief summary", "summarise"),
    said("What is said in minutes.md?", "summarise", target="minutes.md"),
    said("Can you shorten report.docx to the essentials?", "summarise", target="report.docx"),
    said("How many vacation days may I carry over into next year?", "ask"),
    said("Who do I have to inform when I'm ill?", "ask"),
    said("Please show the contents of Contracts", "list_folder", target="Contracts"),
    said("I need a new folder, call it Photos 2024", "create_folder", names=("Photos 2024",)),
    said("Create the directory Backup within Archive", "create_folder", names=("Backup",), destination="Archive"),
    said("Please change the file name of notes.txt to ideas.txt", "rename", target="notes.txt", names=("ideas.txt",)),
    said("Could you bring slides.pptx into the folder Talks?", "move", target="slides.pptx", destination="Talks"),
    said(
        "Give emma@example.com access to report.docx, she may only read it",
        "share",
        target="report.docx",
        role="viewer",
    ),
    said("Please let emma@example.com and liam@example.com work on the Website folder", "share", target="Website"),
    said("Which colleagues can currently see offer.pdf?", "list_shares", target="offer.pdf"),
    said("liam@example.com shouldn't have access to offer.pdf any longer", "revoke", target="offer.pdf"),
    said("Remove all the things in the Trash-Me folder", "trash", target="* in Trash-Me"),
    said(
        "Please replace the term 'client' by 'customer' all over this document",
        "replace",
        file_open=True,
        edits=(("client", "customer"),),
    ),
    said(
        "Put 'Version 1.1' at the beginning of the document",
        "insert",
        file_open=True,
        content="Version 1.1",
        position="start",
    ),
    said("Oh no, can you roll back what you just did?", "undo"),
    said(
        "create a folder Invoices, put bill.pdf into it and give anna@example.com edit access",
        "create_folder",
        "move",
        "share",
        role="editor",
    ),
    said("查一下我们有没有介绍入职流程的文档", "find"),
    said("租赁合同在什么位置", "find", query="租赁合同"),
    said("请找一份关于病假的文件,再简单总结一下", "summarise"),
    said("会议记录.md里说了什么?", "summarise", target="会议记录.md"),
    said("把报告.docx缩成几句要点", "summarise", target="报告.docx"),
    said("年假最多可以结转多少天到明年?", "ask"),
    said("生病了要通知谁?", "ask"),
    said("请显示合同文件夹的内容", "list_folder", target="合同"),
    said("我要一个新文件夹,叫2024照片", "create_folder", names=("2024照片",)),
    said("请把笔记.txt的文件名改为想法.txt", "rename", target="笔记.txt", names=("想法.txt",)),
    said("能把幻灯片.pptx放到演讲文件夹里吗?", "move", target="幻灯片.pptx", destination="演讲"),
    said("给emma@example.com报告.docx的访问权限,只能看", "share", target="报告.docx", role="viewer"),
    said("让emma@example.com和liam@example.com一起编辑网站文件夹", "share", target="网站", role="editor"),
    said("目前哪些同事能看到报价.pdf?", "list_shares", target="报价.pdf"),
    said("liam@example.com不应该再有报价.pdf的权限", "revoke", target="报价.pdf"),
    said("请把待删文件夹里的东西全删了", "trash", target="* in 待删"),
    said("请把文档中所有的“客户”都替换为“顾客”", "replace", file_open=True, edits=(("客户", "顾客"),)),
    said("哎呀,能把你刚才做的撤回吗?", "undo"),
    said(
        "新建文件夹发票,把账单.pdf放进去,并给anna@example.com编辑权限", "create_folder", "move", "share", role="editor"
    ),
]
