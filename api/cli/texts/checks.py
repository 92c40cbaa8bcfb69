"""The sentences of `doctor`."""

from typing import Final

CHECKS: Final[dict[str, tuple[str, str]]] = {
    "checks_failed": ("{failed} of {count} checks failed.", "{count} 项检查中有 {failed} 项失败。"),
    "python_version": ("{version} (3.11 or newer is needed)", "{version}（需要 3.11 或更新版本）"),
    "python_version.hint": ("Install Python 3.11 or newer.", "请安装 Python 3.11 或更新版本。"),
    "root_unwritable": ("{root} can't be written: {reason}", "无法写入 {root}：{reason}"),
    "root_unwritable.hint": (
        "Let this user write it, or set DRIVE_DATA_DIR to another folder.",
        "请允许当前用户写入，或将 DRIVE_DATA_DIR 设为其他文件夹。",
    ),
    "root_open": ("{root} is open to other users of this machine", "本机其他用户可以访问 {root}"),
    "root_open.hint": ("chmod 700 closes it.", "chmod 700 可禁止。"),
    "disk_free": ("{size} free", "剩余 {size}"),
    "disk_free.hint": (
        "Make room, empty the trash, or move the data directory to a larger disk.",
        "请腾出空间、清空回收站，或将数据目录移到更大的磁盘。",
    ),
    "disk_aside": (
        "{free}; {size} more are deleted files that are still set aside (DRIVE_REMOVED_CONTENT_DAYS)",
        "{free}；另有 {size} 是已删除但仍暂存的内容（DRIVE_REMOVED_CONTENT_DAYS）",
    ),
    "data_together": ("its parts belong together", "各部分属于同一个云盘"),
    "data_fail.hint": (
        "Put back the file that belongs here, or restore a backup; docs/BACKUP.md has the three ways on.",
        "请放回属于此处的文件，或还原备份；docs/BACKUP.md 列出三种办法。",
    ),
    "data_warn.hint": (
        "Nothing to do: the next start makes this part anew.",
        "无需处理：下次启动会重新生成这部分。",
    ),
    "contents_none": ("there are none yet; the first start makes their folder", "还没有；首次启动时创建其文件夹"),
    "contents_probed": (
        "{place}: a probe was written, read and removed",
        "{place}：已成功写入、读取并删除探测数据",
    ),
    "contents_changed": (
        "{place} gave back other bytes than it was given",
        "{place} 返回的字节与写入的不同",
    ),
    "contents_changed.hint": (
        "Don't use this store: check its disk, or the proxy before it.",
        "请勿使用此存储：检查其磁盘，或其前面的代理。",
    ),
    "contents_refused": (
        "{place} does not take, give or remove a probe: {reason}",
        "{place} 无法写入、读取或删除探测数据：{reason}",
    ),
    "contents_refused.hint": (
        "Check DRIVE_BLOB_URL, that the bucket or folder exists, and that its key may read, write and delete there.",
        "请检查 DRIVE_BLOB_URL、存储桶或文件夹是否存在，以及其密钥能否在那里读取、写入和删除。",
    ),
    "token_none": ("there is none yet", "还没有"),
    "token_none.hint": (
        "The first start makes it. With PostgreSQL there is none: use a key.",
        "首次启动时生成。使用 PostgreSQL 时没有令牌：请使用密钥。",
    ),
    "token_unreadable": ("{path} can't be read: {reason}", "无法读取 {path}：{reason}"),
    "token_unreadable.hint": (
        "Run this as the user who runs the service.",
        "请以运行服务的用户执行此命令。",
    ),
    "token_open": ("{path} can be read by other users of this machine", "本机其他用户可以读取 {path}"),
    "token_open.hint": ("chmod 600 closes it.", "chmod 600 可禁止。"),
    "token_private": ("{path}, readable by you alone", "{path}，仅您可以读取"),
    "service_silent": (
        "a process holds the data directory but does not answer",
        "有进程占用数据目录，但没有应答",
    ),
    "service_silent.hint": (
        "Wait if it is starting; else stop that process and start the service again.",
        "如果它正在启动，请稍候；否则请停止该进程并重新启动服务。",
    ),
    "service_fails.hint": (
        "Start it with `drive-agent serve`; its log, or {root}/drive-agent.log, says more.",
        "请用 `drive-agent serve` 启动；详情见其日志或 {root}/drive-agent.log。",
    ),
    "service_at": ("runs at {url}", "运行于 {url}"),
    "service_off": ("is not running; it can be started", "未运行；可以启动"),
    "part_answers": ("answers", "有应答"),
    "part.hint": ("The service's log says more.", "详情见服务的日志。"),
    "part_database.hint": (
        "Check that the database runs (DRIVE_DATABASE_URL), or the disk of the data directory; the log says more.",
        "请检查数据库是否运行（DRIVE_DATABASE_URL），或数据目录所在的磁盘；详情见日志。",
    ),
    "part_drive.hint": (
        "Check the drive's database and contents (DRIVE_DATABASE_URL, DRIVE_BLOB_URL), or the disk; the log says more.",
        "请检查云盘的数据库和内容（DRIVE_DATABASE_URL、DRIVE_BLOB_URL）或磁盘；详情见日志。",
    ),
    "part_blobs.hint": (
        "Check that the bucket or folder of contents exists and answers (DRIVE_BLOB_URL); the log says more.",
        "请检查存放内容的存储桶或文件夹是否存在并能应答（DRIVE_BLOB_URL）；详情见日志。",
    ),
    "part_threads.hint": (
        "Check where threads are kept (AGENT_THREADS_URL), or graph.db in the data directory; the log says more.",
        "请检查对话的存放处（AGENT_THREADS_URL）或数据目录中的 graph.db；详情见日志。",
    ),
    "index_empty": ("no files yet", "还没有文件"),
    "index_degraded.hint": ("`drive-agent index --rebuild` makes it anew.", "`drive-agent index --rebuild` 可重建。"),
    "index_rebuilding.hint": (
        "Wait: `drive-agent index` shows how far it is.",
        "请稍候：`drive-agent index` 显示进度。",
    ),
    "index_waits.hint": (
        "Nothing to do: the service reads them by and by; `drive-agent index` shows how far it is.",
        "无需处理：服务会逐步读取；`drive-agent index` 显示进度。",
    ),
    "index_failed.hint": (
        "`drive-agent index` names the files and the reasons.",
        "`drive-agent index` 列出这些文件及原因。",
    ),
    # Models
    "model_offline": (
        "the built-in offline model; OPENAI_API_KEY, OPENAI_BASE_URL, AGENT_MODEL set a real one",
        "内置离线模型；可用 OPENAI_API_KEY、OPENAI_BASE_URL、AGENT_MODEL 设置真实模型",
    ),
    "model_own_key": (
        "{model}, with the key that its package reads",
        "{model}，使用其软件包读取的密钥",
    ),
    "model_no_key": ("{model}, without {setting}", "{model}，没有 {setting}"),
    "model_no_key.hint": (
        "Set {setting}, unless the service needs no key.",
        "请设置 {setting}，除非服务不需要密钥。",
    ),
    "model_room": ("{found}; it reads {tokens} tokens", "{found}；可读取 {tokens} 个词元"),
    "model_narrow": (
        "{found}, too few: requests are refused or cut",
        "{found}，太少：请求会被拒绝或截断",
    ),
    "mend_llama": ("Start llama.cpp with: --ctx-size {tokens}", "请这样启动 llama.cpp：--ctx-size {tokens}"),
    "mend_ollama": (
        "Start Ollama with: OLLAMA_CONTEXT_LENGTH={tokens} ollama serve",
        "请这样启动 Ollama：OLLAMA_CONTEXT_LENGTH={tokens} ollama serve",
    ),
    "mend_vllm": ("Start the server with: --max-model-len {tokens}", "请这样启动服务：--max-model-len {tokens}"),
    "model_unreachable": ("{model} can't be reached ({error})", "无法连接到 {model}（{error}）"),
    "model_unreachable.hint": (
        "Start that service, or check its address (such as OPENAI_BASE_URL) and the network.",
        "请启动该服务，或检查其地址（如 OPENAI_BASE_URL）和网络。",
    ),
    "model_refused": ("{model} refuses the key", "{model} 拒绝了密钥"),
    "model_refused.hint": ("Set another key (such as OPENAI_API_KEY).", "请设置其他密钥（如 OPENAI_API_KEY）。"),
    "model_status": (
        "{model} answers {status} when asked for its models",
        "{model} 在查询模型列表时应答 {status}",
    ),
    "model_status.hint": (
        "The model's answer below counts; else check the address (such as OPENAI_BASE_URL).",
        "以下方的模型回答为准；否则请检查地址（如 OPENAI_BASE_URL）。",
    ),
    "answer_came": ("came after {seconds} s", "{seconds} 秒后收到"),
    "answer_late": ("none came within {seconds} s", "{seconds} 秒内未收到"),
    "answer_late.hint": (
        "Try a smaller or nearer model (AGENT_MODEL), or ask again when it is loaded.",
        "请换用更小或更近的模型（AGENT_MODEL），或等它加载后再试。",
    ),
    "answer_failed": ("a short question failed: {sentence}", "一个简短的提问失败：{sentence}"),
    "answer_failed.hint": (
        "Check AGENT_MODEL, its key and its service; `drive-agent doctor` asks again.",
        "请检查 AGENT_MODEL、其密钥和服务；`drive-agent doctor` 会再次提问。",
    ),
    "model_rules": ("{model}: it {found}. Requests keep to that", "{model}：{found}。请求会遵守"),
    "cost_unseen": (
        "AGENT_MAX_RUN_COST does not see {models}",
        "AGENT_MAX_RUN_COST 不知道 {models} 的价格",
    ),
    "cost_unseen.hint": (
        "Set AGENT_INPUT_PRICE and AGENT_OUTPUT_PRICE.",
        "请设置 AGENT_INPUT_PRICE 和 AGENT_OUTPUT_PRICE。",
    ),
    "cost_known": (
        "known for each model, by the settings or as listed on {date}",
        "每个模型的价格均已知，依据设置或 {date} 的价目",
    ),
}
