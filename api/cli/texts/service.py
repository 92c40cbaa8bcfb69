"""The sentences of the service: how it is reached, started and stopped, and where its data are."""

from typing import Final

SERVICE: Final[dict[str, tuple[str, str]]] = {
    "try": ("Try: {command}", "试试：{command}"),
    "stopped": ("Stopped.", "已停止。"),
    "unreachable": ("The service can't be reached.", "无法连接到服务。"),
    "unreachable.hint": (
        "Start the service, or check the address given with --url.",
        "请启动服务，或检查用 --url 给出的地址。",
    ),
    "timeout": ("The service did not answer in time.", "服务未及时应答。"),
    "timeout.hint": ("Try again; its log says more.", "请重试；详情见它的日志。"),
    "broken": ("The connection to the service broke.", "与服务的连接中断了。"),
    "broken.hint": ("Try again, or check the service.", "请重试，或检查服务。"),
    "bad_url": ("{url} is not the address of a service.", "{url} 不是服务的地址。"),
    "bad_url.hint": ("It looks like http://127.0.0.1:8000.", "地址形如 http://127.0.0.1:8000。"),
    "no_service": ("What answered is not this service.", "应答的不是此服务。"),
    "no_service.hint": ("Check the address given with --url.", "请检查用 --url 给出的地址。"),
    "status": ("The service answered {status}.", "服务应答了 {status}。"),
    "bad_token": (
        "Give a valid one with --token or DRIVE_AGENT_TOKEN.",
        "请用 --token 或 DRIVE_AGENT_TOKEN 给出有效的密钥。",
    ),
    "key_needed": ("A service on another machine needs a key.", "另一台机器上的服务需要密钥。"),
    "key_needed.hint": ("Give one with --token or DRIVE_AGENT_TOKEN.", "请用 --token 或 DRIVE_AGENT_TOKEN 给出。"),
    "token_form": ("The access token has characters that no token has.", "访问令牌含有令牌中不会有的字符。"),
    "token_form.hint": ("Copy it again.", "请重新复制。"),
    "no_token": ("The local access token can't be read ({reason}).", "无法读取本机访问令牌（{reason}）。"),
    "no_token.hint": (
        "Give one with --token or DRIVE_AGENT_TOKEN, or start the service on {root} once. With DRIVE_DATABASE_URL "
        "there is no local token: `drive-agent admin create EMAIL` prints the first key.",
        "请用 --token 或 DRIVE_AGENT_TOKEN 给出，或在 {root} 上启动一次服务。设置了 DRIVE_DATABASE_URL 时没有本机令牌："
        "`drive-agent admin create EMAIL` 会显示首个密钥。",
    ),
    "gone": ("The service is gone.", "服务已不在。"),
    "gone.hint": ("Start it, or run the command again.", "请启动它，或重新运行此命令。"),
    "busy": (
        "Another drive-agent (process {holder}) works on this data directory.",
        "另一个 drive-agent（进程 {holder}）正在使用此数据目录。",
    ),
    "busy.hint": (
        "Use that one, stop it, or set DRIVE_DATA_DIR to another directory.",
        "请使用它、停止它，或将 DRIVE_DATA_DIR 设为其他目录。",
    ),
    "runs_at": ("The service runs at {url}.", "服务正在 {url} 运行。"),
    "runs_already": (
        "The service is running already at {url} (process {pid}).",
        "服务已在 {url} 运行（进程 {pid}）。",
    ),
    "runs_already.hint": (
        "Use it, stop it, or set DRIVE_DATA_DIR to another directory.",
        "请使用它、停止它，或将 DRIVE_DATA_DIR 设为其他目录。",
    ),
    "data_dir": ("The data directory {root} can't be used: {reason}.", "无法使用数据目录 {root}：{reason}。"),
    "data_dir.hint": (
        "Set DRIVE_DATA_DIR to a directory that you may write.",
        "请将 DRIVE_DATA_DIR 设为你可以写入的目录。",
    ),
    "not_started": ("The service could not start: {reason}", "服务无法启动：{reason}"),
    "no_reason": ("no reason is known.", "原因未知。"),
    "log": ("The details are in {path}.", "详情见 {path}。"),
    "opened": ("Opened in your browser: {url}", "已在浏览器中打开：{url}"),
    "open_this": ("Open this in a browser:", "请在浏览器中打开："),
    "once": ("It logs one browser in, once, within ten minutes.", "它让一个浏览器登录一次，十分钟内有效。"),
    "no_browser_service": ("No service runs that a browser could open.", "没有浏览器可以打开的服务在运行。"),
    "lost": (
        "The connection to the service is lost. What it was doing may go on there.",
        "与服务的连接已断开。它正在做的事可能仍在继续。",
    ),
    "lost.hint": (
        "`drive-agent chat --thread ID` looks at a conversation again.",
        "可用 `drive-agent chat --thread ID` 重新查看对话。",
    ),
    "starting": ("Starting…", "正在启动…"),
    "peers": (
        "Another drive-agent still uses this one's service; waiting for it…",
        "另一个 drive-agent 仍在使用此命令的服务；正在等待它结束…",
    ),
    "not_waiting": ("Not waiting any longer.", "不再等待。"),
    "ready": ("Drive Agent is ready.", "Drive Agent 已就绪。"),
    "ready_open": ("  Open:    {login}", "  打开：{login}"),
    "ready_once": (
        "           (logs one browser in, once, within ten minutes; `drive-agent login-link` prints another)",
        "        （让一个浏览器登录一次，十分钟内有效；`drive-agent login-link` 可再输出一个）",
    ),
    "ready_listens": ("  Listens: {url}", "  监听：{url}"),
    "ready_try": ('  Try:     {command} "what can you do?"', '  试试：{command} "你能做什么？"'),
    "ready_model": ("  Model:   {model}", "  模型：{model}"),
    "ready_data": ("  Data:    {root}", "  数据：{root}"),
    "ready_stop": ("Ctrl-C stops it.", "按 Ctrl-C 停止。"),
    "ready_offline": (
        "the built-in offline model is in use.\n"
        "           It needs no key and no network, and understands frequent requests, in English and Chinese.\n"
        "           For a real one set OPENAI_API_KEY (with OPENAI_BASE_URL for another provider, AGENT_MODEL for\n"
        "           another model) in the environment or in {file}, and start again.",
        "正在使用内置离线模型。\n"
        "        它不需要密钥和网络，能理解中文和英文的常见请求。\n"
        "        如需真实模型，请在环境变量或 {file} 中设置 OPENAI_API_KEY\n"
        "        （其他提供商另设 OPENAI_BASE_URL，其他模型另设 AGENT_MODEL），然后重新启动。",
    ),
    "model_at": ("{model} at {place}", "{model}，服务：{place}"),
    "key_provider": ("the provider of OPENAI_API_KEY", "OPENAI_API_KEY 的提供商"),
    "doubtful_address": (
        "DRIVE_PUBLIC_URL is {public}, but the service listens at {url}: links lead to where it does not answer, "
        "unless something there passes requests on. Without DRIVE_PUBLIC_URL they lead here.",
        "DRIVE_PUBLIC_URL 为 {public}，但服务监听于 {url}：除非那里有程序转发请求，否则链接指向的地址不会应答。"
        "不设置 DRIVE_PUBLIC_URL 时，链接指向此服务。",
    ),
    "certificate_ended": (
        "The certificate ended on {date}: browsers refuse it. Renew it and start again.",
        "证书已于 {date} 到期：浏览器会拒绝它。请续期后重新启动。",
    ),
    "certificate_names": (
        "The certificate is for {names}, and links lead to {url}: browsers warn there. Set DRIVE_PUBLIC_URL to the "
        "address by which people come.",
        "证书适用于 {names}，而链接指向 {url}：浏览器会在那里发出警告。请将 DRIVE_PUBLIC_URL 设为人们访问的地址。",
    ),
    "status_version": (
        "Version:   {version} (Python {python}, schema {schema})",
        "版本：{version}（Python {python}，数据结构 {schema}）",
    ),
    "status_database": ("Database:  {size} ({kind})", "数据库：{size}（{kind}）"),
    "status_contents": ("Contents:  {size} in {count} contents", "文件内容：{size}，共 {count} 份"),
    "status_index": ("Index:     {size}; {states}", "索引：{size}；{states}"),
    "status_index_elsewhere": ("on another machine", "位于其他机器"),
    "status_backlog": ("{count} wait to be read", "{count} 个文件等待读取"),
    "status_no_backlog": ("no file waits to be read", "没有文件等待读取"),
    "status_backup": ("Backup:    {name}, in {folder}", "备份：{name}，位于 {folder}"),
    "status_backup_none": (
        "Backup:    none is known on this machine; `drive-agent backup DIR` makes one",
        "备份：此机器上没有已知的备份；可用 `drive-agent backup DIR` 创建",
    ),
    "status_backup_elsewhere": ("Backup:    known on the service's machine", "备份：请在服务所在的机器上查看"),
    "status_people": ("People:    {count}", "人员：{count}"),
    "status_runs": (
        "Runs:      {working} at work, {waiting} waiting; {approvals} approvals open",
        "运行：{working} 个进行中，{waiting} 个等待；{approvals} 个审批待处理",
    ),
    "status_oldest": ("           the oldest at work began {seconds} s ago", "      最早的运行开始于 {seconds} 秒前"),
    "login_start": (
        "Start it with `drive-agent serve`, which prints such an address.",
        "请用 `drive-agent serve` 启动服务，它会输出这样的地址。",
    ),
}
