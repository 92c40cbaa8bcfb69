"""Settings of the drive, read once from the environment (`DRIVE_...`)."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class DriveSettings(BaseSettings):
    """Where the drive keeps its data, and its limits. Sizes are in bytes."""

    model_config = SettingsConfigDict(env_prefix="DRIVE_", env_file=".env", extra="ignore")

    data_dir: Path = Field(default=Path("~/.drive-agent"), description="Everything embedded lives below it.")
    database_url: str = Field(default="", description="SQLAlchemy URL; empty: SQLite in the data directory.")
    blob_url: str = Field(default="", description="obstore URL; empty: files in the data directory.")
    index_url: str = Field(default="", description="LanceDB URI; empty: the data directory.")
    embedding_model: str = Field(default="local", description="`local`: the model in the package; `none`: text only.")
    max_text_bytes: int = Field(default=10_000_000, description="Largest text that a tool reads or writes at once.")
    max_upload_bytes: int = Field(default=5_000_000_000, description="Largest file that can be uploaded.")
    max_request_bytes: int = Field(default=4_194_304, description="Largest JSON body.")
    public_hosts: str = Field(
        default="", description="Host names (comma-separated) by which a proxy on this machine lets others in."
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="The API key of an MCP server over stdio.")

    @property
    def root(self) -> Path:
        """The data directory, absolute, with `~` resolved."""
        return self.data_dir.expanduser().absolute()

    @property
    def resolved_database_url(self) -> str:
        """The database's URL, the embedded one if none is set."""
        return self.database_url or f"sqlite+aiosqlite:///{self.root / 'drive.db'}"

    @property
    def resolved_blob_url(self) -> str:
        """The blob store's URL, the embedded one if none is set."""
        return self.blob_url or (self.root / "blobs").as_uri()

    @property
    def resolved_index_url(self) -> str:
        """The index's URI, the embedded one if none is set."""
        return self.index_url or str(self.root / "index")

    @property
    def token_path(self) -> Path:
        """The file (mode 0600) with the local access token."""
        return self.root / "token"
