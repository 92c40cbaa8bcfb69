"""Settings of the assistant, read once from the environment (`AGENT_...`, and the customary `OPENAI_...`)."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

OFFLINE: Final = "offline"
DEFAULT_MODEL: Final = "gpt-4.1-mini"
ModelRole = Literal["agent", "router", "planner", "reader", "summarizer"]
"""The work of a model: with tools, route, plan, read one file of many, summarise a conversation."""
ROLES: Final[tuple[ModelRole, ...]] = ("agent", "router", "planner", "reader", "summarizer")
PROVIDERS: Final[Mapping[str, str]] = {
    "openai": "langchain-openai",
    "anthropic": "langchain-anthropic",
    "dashscope": "",
    "deepseek": "langchain-deepseek",
    "ollama": "langchain-ollama",
    "google_genai": "langchain-google-genai",
    "groq": "langchain-groq",
    "mistralai": "langchain-mistralai",
    "openrouter": "langchain-openrouter",
    "together": "langchain-together",
    "xai": "langchain-xai",
}
"""The package of each provider that a model's name may begin with, as in `anthropic:claude-sonnet-5`; Qwen's has none.

`qwen` and `mistral` are no providers: `qwen:7b` and `mistral:7b` are names of models, as Ollama has them.
"""
PRIVATE_ENDINGS: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Endings of names that no public service has (RFC 6761, 6762, 8375; ICANN, "private-use top-level domain")."""
RATE: Final = r"(?:0|[1-9][0-9]{0,6}/(?:second|minute|hour|day))"
"""The form of a rate: `60/minute`; `0` is no limit."""
RATES: Final = rf"(?:\s*[a-z_]{{1,64}}\s*=\s*{RATE}\s*(?:,|$))*"
"""The form of several: `share=60/hour, trash_item=0`, each by the name of a tool or of a risk."""


def split_model(name: str) -> tuple[str, str]:
    """Return the provider that a model's name begins with and the rest; the provider is empty if there is none.

    `qwen3:30b` begins with no provider: it is a name with a tag, as Ollama has them.
    """
    provider, colon, rest = name.partition(":")
    return (provider, rest) if colon and rest and provider in PROVIDERS else ("", name)


def is_private_address(url: str) -> bool:
    """Say whether the address names this machine or one of a private network, by its host alone: no name is looked up.

    A name without a dot is one that only a private network knows (a container's, for example).
    """
    host = (urlsplit(url if "://" in url else f"http://{url}").hostname or "").rstrip(".")
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(PRIVATE_ENDINGS)
    return address.is_private or address.is_loopback or address.is_link_local


def _key(variable: str, provider: str) -> Any:
    return Field(default=SecretStr(""), validation_alias=AliasChoices(variable), description=f"Key for `{provider}:`.")


def _address(variable: str, provider: str) -> Any:
    return Field(default="", validation_alias=AliasChoices(variable), description=f"Service of `{provider}:`.")


class AgentSettings(BaseSettings):
    """Models and the limits of a turn. Times are in seconds, lengths in characters."""

    model_config = SettingsConfigDict(env_prefix="AGENT_", extra="ignore", populate_by_name=True)

    model: str = Field(
        default="", description="Model name, or `PROVIDER:NAME`; empty: `offline` without a key, else a default one."
    )
    models: str = Field(
        default="", description="Models (comma-separated) that people may choose for a conversation beside that one."
    )
    router_model: str = Field(
        default="", description="A small model that routes; empty: the likeliest specialist answers."
    )
    route_confidence: float = Field(
        default=0.5, ge=0, le=1, description="Below it, the specialist asks the person what is meant, if it can't tell."
    )
    planner_model: str = Field(default="", description="Model that plans; empty: the same.")
    reader_model: str = Field(default="", description="Model that reads files one by one; empty: the same.")
    summary_model: str = Field(default="", description="Model that summarises conversations; empty: the router's.")
    openai_api_key: SecretStr = Field(
        default=SecretStr(""), validation_alias=AliasChoices("OPENAI_API_KEY"), description="Key for the model."
    )
    openai_base_url: str = Field(
        default="", validation_alias=AliasChoices("OPENAI_BASE_URL"), description="Any OpenAI-compatible service."
    )
    anthropic_api_key: SecretStr = _key("ANTHROPIC_API_KEY", "anthropic")
    anthropic_base_url: str = _address("ANTHROPIC_BASE_URL", "anthropic")
    dashscope_api_key: SecretStr = _key("DASHSCOPE_API_KEY", "dashscope")
    dashscope_api_base: str = _address("DASHSCOPE_API_BASE", "dashscope")
    deepseek_api_key: SecretStr = _key("DEEPSEEK_API_KEY", "deepseek")
    deepseek_api_base: str = _address("DEEPSEEK_API_BASE", "deepseek")
    groq_api_key: SecretStr = _key("GROQ_API_KEY", "groq")
    groq_api_base: str = _address("GROQ_API_BASE", "groq")
    mistral_api_key: SecretStr = _key("MISTRAL_API_KEY", "mistralai")
    mistral_base_url: str = _address("MISTRAL_BASE_URL", "mistralai")
    openrouter_api_key: SecretStr = _key("OPENROUTER_API_KEY", "openrouter")
    openrouter_api_base: str = _address("OPENROUTER_API_BASE", "openrouter")
    together_api_key: SecretStr = _key("TOGETHER_API_KEY", "together")
    together_api_base: str = _address("TOGETHER_API_BASE", "together")
    xai_api_key: SecretStr = _key("XAI_API_KEY", "xai")
    xai_api_base: str = _address("XAI_API_BASE", "xai")
    ollama_base_url: str = Field(
        default="", validation_alias=AliasChoices("OLLAMA_HOST"), description="Service of `ollama:`."
    )
    chat_client: Literal["lean", "openai"] = Field(
        default="lean", description="Client of the model: `lean`, or `openai` for LangChain's over OpenAI's own."
    )
    threads_url: str = Field(
        default="", description="Where threads are kept: `postgresql://...`; empty: in files of the data directory."
    )
    model_profile: Literal["auto", "small", "full"] = Field(
        default="auto",
        description="Prompts and tools for `small` models or for all others; auto: small below 10 billion parameters.",
    )
    model_timeout_seconds: float = Field(
        default=120, gt=0, description="Longest silence of the model's service before an answer begins."
    )
    local_model_timeout_seconds: float = Field(
        default=600,
        gt=0,
        description="The same of a service on this machine or a private network, where reading takes long.",
    )
    model_stall_seconds: float = Field(default=60, gt=0, description="Longest silence inside an answer.")
    model_retries: int = Field(default=3, ge=0, le=10, description="Retries on 429, 5xx and lost connections.")
    approval_ttl_seconds: int = Field(default=300, gt=0, description="Then an unanswered approval expires.")
    unattended_approval_ttl_seconds: int = Field(
        default=604_800, gt=0, description="The same for approvals of unattended runs: 7 days."
    )
    webhook_url: str = Field(default="", description="Where it is told that an unattended run waits for an approval.")
    webhook_secret: SecretStr = Field(
        default=SecretStr(""), description="What that is signed with: text, or `whsec_` and base64."
    )
    webhook_hosts: str = Field(
        default="",
        description="Hosts (comma-separated) that programs may have told of the end of their runs; empty: none.",
    )
    link_hosts: str = Field(
        default="", description="Hosts beside the drive's own (comma-separated) that links in answers may lead to."
    )
    dev_login: bool = Field(
        default=False,
        description="Whether `langgraph dev` asks for a key of the drive, and works in its person's name.",
    )
    conversation_headers: str = Field(
        default="X-OpenWebUI-Chat-Id,X-Conversation-Id",
        description="Headers (comma-separated) in which clients of `/v1` name a conversation.",
    )
    max_tool_rounds: int = Field(default=20, gt=0, description="Rounds of tool calls in one turn.")
    max_run_tokens: int = Field(default=0, ge=0, description="Tokens that a turn may take; 0: no limit.")
    max_run_cost: float = Field(default=0, ge=0, description="What a turn may cost, by the prices below; 0: no limit.")
    input_price: float = Field(default=0, ge=0, description="Price of a million tokens of input.")
    cached_input_price: float = Field(
        default=0, ge=0, description="The same where the service had them in its cache; 0: as other input."
    )
    output_price: float = Field(default=0, ge=0, description="Price of a million tokens of output.")
    tool_rate: str = Field(
        default="120/minute", pattern=f"^{RATE}$", description="How often a person may use each tool; 0: no limit."
    )
    tool_rates: str = Field(
        default="share=60/hour,delete=200/hour",
        pattern=f"^{RATES}$",
        description="The same for single tools, and for all tools of a risk (read, write, share, delete) together.",
    )
    max_repeated_calls: int = Field(
        default=3, ge=1, description="The same call with the same result in one turn; then it is refused."
    )
    max_argument_characters: int = Field(
        default=500_000, ge=1_000, description="Longest arguments of one tool call, as JSON."
    )
    max_result_characters: int = Field(default=20_000, ge=1_000, description="Longest tool result the model sees.")
    window_tokens: int = Field(
        default=32_000, ge=500, description="Messages the model sees, in tokens (estimated), if it can take so many."
    )
    attachment_tokens: int = Field(
        default=12_000, ge=500, description="What the person attached to a message, in tokens (estimated), at most."
    )
    vision: Literal["auto", "on", "off"] = Field(
        default="auto", description="Whether the model takes attached pictures; auto: known by its name."
    )
    context_tokens: int = Field(
        default=0, ge=0, description="Tokens that the model reads and writes together; 0: known by its name."
    )
    summaries: Literal["", "extractive", "model"] = Field(
        default="", description="How turns that no longer fit are summarised: by rules, or by the model, if it is real."
    )
    tool_timeout_seconds: float = Field(default=60, gt=0, description="Longest wait for one tool call.")
    long_tool_timeout_seconds: float = Field(
        default=1800, gt=0, description="Longest wait for one that reads many files."
    )
    map_concurrency: int = Field(default=4, ge=1, le=64, description="Files that one plan step reads at a time.")
    thread_days: float = Field(
        default=0, ge=0, description="Days without a message after which a thread is deleted; 0: never."
    )
    stdio_commands: str = Field(
        default="",
        description="Commands (comma-separated) that people's MCP servers may be; ` *` at the end: with any arguments; "
        "`NAME=` in front: with that variable.",
    )
    mcp_private_hosts: str = Field(
        default="",
        description="Hosts (comma-separated) inside the network, with or without a port, that MCP servers may be on.",
    )
    secrets_key: SecretStr = Field(
        default=SecretStr(""),
        description="Fernet keys (comma-separated) for MCP servers' secrets: the first encrypts; empty: a file; "
        "required on PostgreSQL.",
    )
    mcp_servers_per_person: int = Field(default=20, ge=0, description="MCP servers that a person may define.")
    mcp_tools_per_server: int = Field(default=64, ge=1, description="Tools of one MCP server; more are left out.")
    mcp_tools_per_assistant: int = Field(default=128, ge=1, description="Tools of all MCP servers of an assistant.")
    mcp_tool_tokens: int = Field(
        default=20_000, ge=100, description="Tokens (estimated) of the descriptions of these tools."
    )
    mcp_calls_per_minute: int = Field(default=60, ge=1, description="Calls a minute to one MCP server.")
    mcp_result_bytes: int = Field(
        default=1_000_000, ge=1_000, description="Longest message from an MCP server, in bytes."
    )
    mcp_rounds: int = Field(default=20, gt=0, description="Rounds of calls to MCP servers in one turn.")
    session_idle_seconds: float = Field(default=600, gt=0, description="An unused connection to the drive is closed.")

    @property
    def resolved_model(self) -> str:
        """The model's name; `offline` if none is set and there is no key."""
        return self.model or (DEFAULT_MODEL if self.openai_api_key.get_secret_value() else OFFLINE)

    def first_byte_seconds(self, url: str) -> float:
        """Return the longest silence before an answer of the service at the address.

        A wait that is set for all services holds for local ones too, unless theirs is set.
        """
        is_set_for_all = "model_timeout_seconds" in self.model_fields_set
        is_local = is_private_address(url) and (
            not is_set_for_all or "local_model_timeout_seconds" in self.model_fields_set
        )
        return self.local_model_timeout_seconds if is_local else self.model_timeout_seconds

    @property
    def allowed_models(self) -> tuple[str, ...]:
        """The models that a person may choose for a conversation, the default one first."""
        listed = (name.strip() for name in self.models.split(","))
        return tuple(dict.fromkeys([self.resolved_model, *filter(None, listed)]))

    def model_of(self, role: ModelRole, chosen: str = "") -> str:
        """Return the name of a role's model; `chosen` is a conversation's model in place of `AGENT_MODEL`."""
        own: dict[ModelRole, str] = {
            "router": self.router_model,
            "planner": self.planner_model,
            "reader": self.reader_model,
            "summarizer": self.summary_model or self.router_model,
        }
        return own.get(role) or chosen or self.resolved_model

    def summarises_with(self, model: str) -> bool:
        """Say whether this model writes the summaries; rules do it for the offline one, unless the settings say so."""
        return self.summaries == "model" or (not self.summaries and model != OFFLINE)
