"""Settings of the assistant, read once from the environment (`AGENT_...`, and the customary `OPENAI_...`)."""

from typing import Final

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

OFFLINE: Final = "offline"
DEFAULT_MODEL: Final = "gpt-4.1-mini"


class AgentSettings(BaseSettings):
    """Which models answer, and the limits of a turn. Times are in seconds, lengths in characters."""

    model_config = SettingsConfigDict(env_prefix="AGENT_", env_file=".env", extra="ignore", populate_by_name=True)

    model: str = Field(default="", description="Model name; empty: `offline` without a key, else a default one.")
    router_model: str = Field(default="", description="Model that routes; empty: the same.")
    planner_model: str = Field(default="", description="Model that plans; empty: the same.")
    openai_api_key: SecretStr = Field(
        default=SecretStr(""), validation_alias=AliasChoices("OPENAI_API_KEY"), description="Key for the model."
    )
    openai_base_url: str = Field(
        default="", validation_alias=AliasChoices("OPENAI_BASE_URL"), description="Any OpenAI-compatible service."
    )
    model_timeout_seconds: float = Field(default=60, gt=0, description="Longest wait for the start of an answer.")
    model_stall_seconds: float = Field(default=30, gt=0, description="Longest silence inside an answer.")
    model_retries: int = Field(default=3, ge=0, le=10, description="Retries on 429, 5xx and lost connections.")
    approval_ttl_seconds: int = Field(default=300, gt=0, description="Then an unanswered approval expires.")
    max_tool_rounds: int = Field(default=20, gt=0, description="Rounds of tool calls in one turn.")
    max_result_characters: int = Field(default=20_000, ge=1_000, description="Longest tool result the model sees.")
    window_characters: int = Field(default=100_000, ge=2_000, description="Messages the model sees, in characters.")
    tool_timeout_seconds: float = Field(default=60, gt=0, description="Longest wait for one tool call.")
    long_tool_timeout_seconds: float = Field(
        default=1800, gt=0, description="Longest wait for one that reads many files."
    )
    session_idle_seconds: float = Field(default=600, gt=0, description="An unused connection to the drive is closed.")

    @property
    def resolved_model(self) -> str:
        """The model's name; `offline` if none is set and there is no key."""
        return self.model or (DEFAULT_MODEL if self.openai_api_key.get_secret_value() else OFFLINE)
