"""Settings of the command line, read from the environment (`DRIVE_AGENT_...`) like the service's own."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class CliSettings(BaseSettings):
    """Which service to talk to, and as whom."""

    model_config = SettingsConfigDict(env_prefix="DRIVE_AGENT_", env_file=".env", extra="ignore")

    url: str = Field(default="", description="Address of the service; empty: the one that runs here, or one's own.")
    token: str = Field(default="", description="Access token or API key; empty: the local token.")
