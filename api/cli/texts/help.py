"""The Chinese of the texts of `--help`, by the English ones that the parsers have."""

from typing import Final

CHINESE: Final[dict[str, str]] = {
    # Of all commands
    "usage: ": "用法：",
    "positional arguments": "参数",
    "options": "选项",
    "show this help message and exit": "显示此帮助并退出",
    "show program's version number and exit": "显示版本号并退出",
    "Your drive, and an assistant that works in it, asks before what matters, and can take it back.": (
        "您的云盘，以及在其中工作的助手：重要操作先询问，并且可以撤销。"
    ),
    "file of settings (default: drive-agent.env in the data directory)": (
        "设置文件（默认：数据目录中的 drive-agent.env）"
    ),
    "address of the service to use (or DRIVE_AGENT_URL)": "要使用的服务地址（或 DRIVE_AGENT_URL）",
    "access token or API key (or DRIVE_AGENT_TOKEN; default: the local token)": (
        "访问令牌或 API 密钥（或 DRIVE_AGENT_TOKEN；默认：本机令牌）"
    ),
    "don't ask": "不询问",
    "do not ask": "不询问",
    "name or id": "名称或 id",
    "another name": "新名称",
    # The service
    "start the service": "启动服务",
    "address to listen on (default: %(default)s)": "监听地址（默认：%(default)s）",
    "port; 0 takes a free one (default: %(default)s)": "端口；0 表示任选空闲端口（默认：%(default)s）",
    "serve the drive as an MCP server over stdio": "通过 stdio 以 MCP 服务器提供云盘",
    "print what a shell needs to complete these commands": "输出 shell 补全这些命令所需的脚本",
    "check this installation": "检查此安装",
    "print the checks as JSON": "以 JSON 输出检查结果",
    "copy all data of this machine's service elsewhere": "把本机服务的全部数据备份到别处",
    "folder of backups; a later one copies only what is new": "备份文件夹；之后的备份只复制新内容",
    "backups to keep (default: %(default)s)": "保留的备份数（默认：%(default)s）",
    "check the backups that are there, and make none": "检查已有备份，不新建",
    "make a backup the data of a service": "把备份恢复为服务的数据",
    "folder of backups": "备份文件夹",
    "the backup of that name (default: the newest)": "该名称的备份（默认：最新）",
    "data directory to make (default: that of the settings)": "要建立的数据目录（默认：设置中的目录）",
    "give a folder that is there another name first": "先将已有的文件夹改名",
    # Conversations
    "talk to the assistant": "与助手对话",
    "Approvals are answered with y, n or e(dit); when standard input ends first, they are rejected and the exit code "
    "is 1.": "审批用 y（同意）、n（拒绝）或 e（编辑）回答；若标准输入先结束，则视为拒绝，退出码为 1。",
    "without it: an interactive chat; -: a pipe's text": "省略则进入交互对话；- 表示取自管道的文本",
    "go on with this conversation": "继续此对话",
    "go on with the one used last": "继续上次使用的对话",
    "the folder of the drive you are in": "您所在的云盘文件夹",
    "the file of the drive you have open": "您打开的云盘文件",
    "the model of this conversation, from now on": "此对话今后使用的模型",
    "the assistant of this conversation, from now on": "此对话今后使用的助手",
    "approve actions up to this risk unasked; never sharing or deleting": (
        "不询问即批准不超过此风险的操作；共享和删除除外"
    ),
    "don't ask: what needs an approval waits for days until you come": "不询问：需要审批的操作会等待数天，直到您处理",
    "print the events as JSON, one a line": "以 JSON 输出事件，每行一个",
    "your conversations": "您的对话",
    "list them, the one used last first": "列出对话，最近使用的在前",
    "find some by words of titles and messages": "按标题和消息中的词查找",
    "write one to a file, with calls and citations": "把一个对话写入文件，含调用和引用",
    "print the messages of one": "输出一个对话的消息",
    "give one another title": "更改一个对话的标题",
    "delete some for good; their changes stay": "永久删除若干对话；它们做的更改保留",
    "print them as a JSON array": "以 JSON 数组输出",
    "where to (default: standard output)": "写到何处（默认：标准输出）",
    "print it as JSON": "以 JSON 输出",
    "what the assistant was asked to remember": "让助手记住的内容",
    "list what is remembered": "列出已记住的内容",
    "forget a fact for good": "永久忘记一条",
    "give a fact another text": "修改一条的文字",
    "print the facts as a JSON array": "以 JSON 数组输出记住的内容",
    "the plan of a conversation": "对话的计划",
    "what was done and what is to come": "已完成和待完成的步骤",
    "change steps that have not begun": "修改尚未开始的步骤",
    "wait after the running step, as long as it takes": "当前步骤之后暂停，时间不限",
    "let it go on": "让它继续",
    "end it after the running step; what was done stays": "当前步骤之后结束；已做的保留",
    "id of the conversation, as `chat` prints it": "对话的 id，即 `chat` 输出的 id",
    "print the plan as JSON": "以 JSON 输出计划",
    "the step to change": "要修改的步骤",
    "take the list of the steps from standard input, as JSON": "从标准输入读取 JSON 格式的步骤列表",
    "what the step is called": "步骤的名称",
    "what the step does": "步骤的内容",
    "leave the step out": "去掉该步骤",
    "take back what a run, a conversation or one change did": "撤销一次运行、一个对话或一项更改",
    "do again what was taken back": "重做已撤销的内容",
    "a run of the assistant": "助手的一次运行",
    "one change, whoever made it for you": "一项更改，无论由谁代您所做",
    "all runs of this conversation, as one change": "此对话的全部运行，作为一项更改",
    "of the conversation only this run and later ones": "仅限该对话中这次及之后的运行",
    "don't ask after the preview": "预览后不询问",
    "say what a run called, and who allowed it": "显示一次运行调用了什么、由谁批准",
    "print the audit as JSON": "以 JSON 输出审计",
    "what the assistant may do unasked": "助手无需询问即可做的事",
    "list the grants that hold now": "列出当前有效的授权",
    "be asked again from now on": "今后重新询问",
    "print the grants as a JSON array": "以 JSON 数组输出授权",
    # The whole drive, search
    "give the whole drive out, as a folder or a zip file": "将整个云盘导出为文件夹或 zip 文件",
    "a new folder or zip file; or an export, which is brought up to date": "新文件夹或 zip 文件；或要更新的已有导出",
    "check the export that is there, and change nothing": "检查已有导出，不做更改",
    "take a folder or file of this computer in": "导入本机的文件夹或文件",
    "the folder to import, with all that is below it; a file; or an export": (
        "要导入的文件夹（含其下全部内容）、文件或导出"
    ),
    "folder of the drive that takes the content of DIR (default: one named like DIR)": (
        "接收 DIR 内容的云盘文件夹（默认：与 DIR 同名）"
    ),
    "only what is of this time (ISO 8601) or later": "只找此时间（ISO 8601）及之后的项目",
    "only what is of before this time (ISO 8601)": "只找此时间（ISO 8601）之前的项目",
    "don't wait until the files can be searched": "不等待文件可被搜索",
    "list a folder of the drive": "列出云盘中的文件夹",
    "path or id (default: %(default)s)": "路径或 id（默认：%(default)s）",
    "path or id (default: /)": "路径或 id（默认：/）",
    "print the items as a JSON array": "以 JSON 数组输出各项",
    "find files by name, words and meaning": "按名称、词语和含义查找文件",
    "print the hits as a JSON array": "以 JSON 数组输出结果",
    "the search index: its state, or build it anew": "搜索索引：查看状态或重建",
    "say how far it is and what could not be read": "显示进度以及无法读取的内容",
    "read all files again": "重新读取所有文件",
    "print the status as JSON": "以 JSON 输出状态",
    # Files and folders
    "fetch files from the drive": "从云盘下载文件",
    "send files of this computer into the drive": "将本机文件上传到云盘",
    "print files of the drive": "输出云盘文件的内容",
    "move or rename items of the drive": "移动或重命名云盘中的项",
    "copy items of the drive": "复制云盘中的项",
    "move items of the drive to the trash": "将云盘中的项移入回收站",
    "make folders in the drive": "在云盘中新建文件夹",
    "show a folder with everything below it": "显示文件夹及其下全部内容",
    "say how much room folders take": "显示文件夹占用的空间",
    "open the drive, or a file, in the browser": "在浏览器中打开云盘或文件",
    "print the result as JSON": "以 JSON 输出结果",
    "path or id in the drive; a quoted pattern (* ? [..] **) names several": (
        "云盘中的路径或 id；加引号的模式（* ? [..] **）可指多项"
    ),
    "path or id in the drive; a quoted pattern (* ? [..] **) names several; the last of several: where to (- is a "
    "pipe)": "云盘中的路径或 id；加引号的模式（* ? [..] **）可指多项；多个参数时最后一个为目标（- 表示管道）",
    "path or id in the drive; a quoted pattern (* ? [..] **) names several; the last: where to": (
        "云盘中的路径或 id；加引号的模式（* ? [..] **）可指多项；最后一个为目标"
    ),
    "also folders, with all that is in them": "也包括文件夹及其中全部内容",
    "if the name is taken (default: %(default)s); what is replaced in the drive stays as a version, or in the trash": (
        "名称已被占用时（默认：%(default)s）；云盘中被替换的内容保留为版本，或放入回收站"
    ),
    "- is standard input; the last of several: where to": "- 表示标准输入；多个参数时最后一个为目标",
    "for habit: folders go whole anyway": "仅为习惯而设：文件夹总是整体处理",
    "also those above; no complaint if it is there": "同时新建上级文件夹；已存在时不报错",
    "only so many levels": "只显示这么多层",
    "levels with a line (default: %(default)s)": "显示的层数（默认：%(default)s）",
    "path or id of a file": "文件的路径或 id",
    "print the address instead": "只输出地址",
    "don't ask if there is no account with the email": "该邮箱没有账户时不询问",
    "share with a person; without one: who has access": "与他人共享；不指定人则列出有权访问者",
    "what they may do (default: viewer)": "对方的权限（默认：viewer）",
    "take their access back": "收回其访问权限",
    "leave what somebody shared with you": "退出他人共享给你的内容",
    "make an address that opens an item for anybody": "生成任何人都可打开某项的链接",
    "from now, as 12h, 7d or 4w (default: never)": "从现在起的时长，如 12h、7d 或 4w（默认：永不到期）",
    "without one it is asked for": "未给出则会询问",
    "list the links of the item": "列出该项的链接",
    "give that link other terms": "更改该链接的条件",
    "end that link": "使该链接失效",
    "what is in the trash": "回收站中的内容",
    "list it, what came last first": "列出内容，最近放入的在前",
    "bring items back": "恢复若干项",
    "delete items for good": "永久删除若干项",
    "delete everything in it for good": "永久清空",
    "id, or former path or name": "id，或原来的路径或名称",
    "another folder than before": "恢复到其他文件夹",
    "the contents that a file had": "文件的历史内容",
    "list them, newest first": "列出版本，最新的在前",
    "fetch one": "下载一个版本",
    "make it the newest one": "将其设为最新版本",
    "compare it with another one, or the newest": "与另一版本或最新版本比较",
    "where to (default: here; - is a pipe)": "保存到何处（默认：当前文件夹；- 表示管道）",
    # Servers and assistants
    "your own MCP servers": "您自己的 MCP 服务器",
    "list your servers": "列出您的服务器",
    "define a server, and test it": "定义并测试一个服务器",
    "change a server": "修改服务器",
    "connect to a server now": "立即连接服务器",
    "list the tools of a server, or decide about one": "列出服务器的工具，或作出决定",
    "enable a server, or only some of its tools": "启用服务器，或仅启用其部分工具",
    "disable a server, or only some of its tools": "停用服务器，或仅停用其部分工具",
    "sign in to a server with your browser (OAuth)": "用浏览器登录服务器（OAuth）",
    "delete the tokens of a sign-in": "删除登录的令牌",
    "delete a server": "删除服务器",
    "take over those of Claude Desktop, Cursor, VS Code": "导入 Claude Desktop、Cursor、VS Code 中的服务器",
    "print the servers as a JSON array": "以 JSON 数组输出服务器",
    "its address, if it is remote": "远程服务器的地址",
    "without it, told by the address": "省略则由地址判断",
    "of a call (default: %(default)s)": "每次调用的时限（默认：%(default)s）",
    "of a call": "每次调用的时限",
    "header of every request; its value is asked for, or taken from a variable of that name": (
        "每个请求的标头；其值会询问，或取自同名变量"
    ),
    "environment of the program; its value is asked for, or taken from a variable of that name": (
        "程序的环境变量；其值会询问，或取自同名变量"
    ),
    "last: the program to run, and its arguments": "放在最后：要运行的程序及其参数",
    "use its changed definition, which is shown": "采用已更改的定义（会显示）",
    "don't ask before it is called": "调用前不询问",
    "ask again before it is called": "调用前重新询问",
    "print the tools as a JSON array": "以 JSON 数组输出工具",
    "their JSON; - is standard input": "它们的 JSON；- 表示标准输入",
    "assistants of your own": "您自己的助手",
    "list your assistants and their servers": "列出您的助手及其服务器",
    "define an assistant": "定义助手",
    "change an assistant": "修改助手",
    "delete an assistant": "删除助手",
    "print the assistants as a JSON array": "以 JSON 数组输出助手",
    "its model; '' is the one of the settings": "其模型；'' 表示设置中的模型",
    "how it works": "它如何工作",
    "the drive's tools that it may use; all: any": "可使用的云盘工具；all 表示全部",
    "new conversations have it": "新对话默认使用它",
    "an MCP server that it uses": "它使用的 MCP 服务器",
    "it uses none": "不使用任何服务器",
    # People
    "API keys": "API 密钥",
    "make a key; its secret is printed once": "新建密钥；密钥内容只显示一次",
    "list your keys": "列出您的密钥",
    "make a key useless, at once and for good": "立即并永久作废密钥",
    "what it may do": "密钥的权限",
    "days until it expires (default: never)": "到期天数（默认：永不）",
    "print the key as JSON": "以 JSON 输出密钥",
    "print the keys as a JSON array": "以 JSON 数组输出密钥",
    "the key's id, or its name if only one has it": "密钥的 id，或唯一的名称",
    "print an address that logs a browser in, once": "输出让浏览器登录一次的地址",
    "people": "人员",
    "give a person a drive; prints their first key once": "为某人开通云盘；其首个密钥只显示一次",
    "list who has an account; for administrators": "列出所有账户；仅限管理员",
    "let nobody act as a person: keys, sessions and runs end at once": "停用账户：其密钥、会话和运行立即结束",
    "let a person in again": "重新启用账户",
    "make a person an administrator": "设为管理员",
    "make a person no administrator": "取消管理员",
    "print an address at which a person sets a new password, once": "输出让某人设置一次新密码的地址",
    "remove a person for good": "永久移除某人",
    "print the accounts as a JSON array": "以 JSON 数组输出账户",
    "give the files to another person": "将文件移交给他人",
    "delete the files for good": "永久删除文件",
    "groups of people": "群组",
    "list the groups": "列出群组",
    "make a group; for administrators": "新建群组；仅限管理员",
    "rename a group, or change who is in it": "重命名群组，或更改其成员",
    "delete a group with all access that it was given": "删除群组及其获得的全部访问权限",
    "print the groups as a JSON array": "以 JSON 数组输出群组",
    "a person in it": "群组成员",
    "a person to put in": "要加入的人",
    "a person to take out": "要移出的人",
    # The end of the help of `drive-agent`
    """\
Commands that work in the drive talk to the running service, or to the one at --url; with none running
they start the same service for as long as they last.

Settings come from the environment, then from the file of --config; without --config, from drive-agent.env
in the data directory (DRIVE_DATA_DIR). No file of the current folder is read.

Exit codes: 0 done, 1 failed (a sentence says why), 2 wrong usage.
""": """\
在云盘中工作的命令会连接正在运行的服务，或 --url 指定的服务；若没有服务在运行，
则在命令执行期间自行启动。

设置先取自环境变量，再取自 --config 指定的文件；未给出 --config 时取自数据目录
（DRIVE_DATA_DIR）中的 drive-agent.env。不读取当前文件夹中的任何文件。

退出码：0 完成，1 失败（会说明原因），2 用法错误。
""",
}
