"""The sentences of `doctor`."""

from typing import Final

CHECKS: Final[dict[str, tuple[str, str]]] = {
    "checks_failed": ("{failed} of {count} checks failed.", "{count} 项检查中有 {failed} 项失败。"),
    "python_version": ("{version} (3.11 or newer is needed)", "{version}（需要 3.11 或更新版本）"),
    "root_unwritable": (
        "{root} can't be written: {reason}; see DRIVE_DATA_DIR",
        "无法写入 {root}：{reason}；见 DRIVE_DATA_DIR",
    ),
    "root_open": (
        "{root} is open to other users of this machine; chmod 700 closes it",
        "本机其他用户可以访问 {root}；chmod 700 可禁止",
    ),
    "disk_free": ("{size} free", "剩余 {size}"),
    "disk_aside": (
        "{free}; {size} more are deleted files that are still set aside (DRIVE_REMOVED_CONTENT_DAYS)",
        "{free}；另有 {size} 是已删除但仍暂存的内容（DRIVE_REMOVED_CONTENT_DAYS）",
    ),
    "data_together": ("its parts belong together", "各部分属于同一个云盘"),
    "token_none": ("there is none yet; the first start makes it", "还没有；首次启动时生成"),
    "token_unreadable": ("{path} can't be read: {reason}", "无法读取 {path}：{reason}"),
    "token_open": (
        "{path} can be read by other users of this machine; chmod 600 closes it",
        "本机其他用户可以读取 {path}；chmod 600 可禁止",
    ),
    "token_private": ("{path}, readable by you alone", "{path}，仅您可以读取"),
    "service_silent": (
        "a process holds the data directory but does not answer",
        "有进程占用数据目录，但没有应答",
    ),
    "service_at": ("runs at {url}", "运行于 {url}"),
    "service_off": ("is not running; it can be started", "未运行；可以启动"),
    "part_answers": ("answers", "有应答"),
    "index_empty": ("no files yet", "还没有文件"),
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
    "model_room": ("{found}; it reads {tokens} tokens", "{found}；可读取 {tokens} 个词元"),
    "model_narrow": (
        "{found}, too few: requests are refused or cut. {mend}",
        "{found}，太少：请求会被拒绝或截断。{mend}",
    ),
    "mend_llama": ("Start llama.cpp with: --ctx-size {tokens}", "请这样启动 llama.cpp：--ctx-size {tokens}"),
    "mend_ollama": (
        "Start Ollama with: OLLAMA_CONTEXT_LENGTH={tokens} ollama serve",
        "请这样启动 Ollama：OLLAMA_CONTEXT_LENGTH={tokens} ollama serve",
    ),
    "mend_vllm": ("Start the server with: --max-model-len {tokens}", "请这样启动服务：--max-model-len {tokens}"),
    "model_unreachable": ("{model} can't be reached ({error})", "无法连接到 {model}（{error}）"),
    "model_refused": ("{model} refuses the key", "{model} 拒绝了密钥"),
    "model_status": (
        "{model} answers {status} when asked for its models",
        "{model} 在查询模型列表时应答 {status}",
    ),
    "model_rules": ("{model}: it {found}. Requests keep to that", "{model}：{found}。请求会遵守"),
    "cost_unseen": (
        "AGENT_MAX_RUN_COST does not see {models}: set AGENT_INPUT_PRICE and AGENT_OUTPUT_PRICE",
        "AGENT_MAX_RUN_COST 不知道 {models} 的价格：请设置 AGENT_INPUT_PRICE 和 AGENT_OUTPUT_PRICE",
    ),
    "cost_known": (
        "known for each model, by the settings or as listed on {date}",
        "每个模型的价格均已知，依据设置或 {date} 的价目",
    ),
}
