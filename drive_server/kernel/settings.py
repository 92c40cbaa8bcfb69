"""Settings of the drive, read once from the environment (`DRIVE_...`)."""

from pathlib import Path
from typing import Final, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, PrivateAttr, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from drive_server.kernel.moments import server_zone, zone_of
from drive_server.kernel.telemetry.setup import LogFormat, LogLevel

S = TypeVar("S", bound=BaseSettings)
USUAL_ADDRESS: Final = "http://127.0.0.1:8000"
Tier = Literal["core", "all", "whole"]
"""The tools that an MCP host is shown: a core in few words, all of them so, or all with their whole schemas."""


def read_settings(kind: type[S], *files: Path) -> S:
    """Return the settings in the environment and, where it says nothing, in the files; a later file goes before."""
    return kind(_env_file=files, _env_file_encoding="utf-8-sig")


class DriveSettings(BaseSettings):
    """The drive's settings: addresses of its storage, and limits. Sizes are in bytes."""

    model_config = SettingsConfigDict(env_prefix="DRIVE_", extra="ignore", populate_by_name=True)

    data_dir: Path = Field(default=Path("~/.drive-agent"), description="Everything embedded lives below it.")
    database_url: str = Field(
        default="", description="SQLAlchemy URL, see docs/POSTGRESQL.md; empty: SQLite in the data directory."
    )
    blob_url: str = Field(default="", description="obstore URL; empty: files in the data directory.")
    index_url: str = Field(default="", description="LanceDB URI; empty: the data directory.")
    embedding_model: str = Field(
        default="local", description="`local`: in the package; `none`: text only; `openai:NAME`; or a NAME at the URL."
    )
    embedding_url: str = Field(default="", description="OpenAI-compatible service of the embedding model.")
    embedding_key: SecretStr = Field(default=SecretStr(""), description="Its key.")
    rerank_url: str = Field(default="", description="Service that reads the best passages again; empty: none does.")
    rerank_model: str = Field(default="", description="Its model.")
    rerank_key: SecretStr = Field(default=SecretStr(""), description="Its key.")
    openai_base_url: str = Field(
        default="", validation_alias=AliasChoices("OPENAI_BASE_URL"), description="For `openai:NAME` without a URL."
    )
    openai_api_key: SecretStr = Field(
        default=SecretStr(""), validation_alias=AliasChoices("OPENAI_API_KEY"), description="For `openai:NAME`."
    )
    language_model: str = Field(
        default="",
        validation_alias=AliasChoices("DRIVE_LANGUAGE_MODEL", "AGENT_MODEL"),
        description="Model that reads many files for hosts without one; `none`: none; empty: a default, with a key.",
    )
    language_url: str = Field(default="", description="OpenAI-compatible service of that model; empty: OpenAI's.")
    language_key: SecretStr = Field(default=SecretStr(""), description="Its key.")
    language_seconds: int = Field(default=120, ge=1, description="How long that model, or a host's, may be silent.")
    bulk_concurrency: int = Field(default=8, ge=1, le=64, description="Files that one call reads at the same time.")
    result_days: int = Field(default=7, ge=1, description="Days that the results of reading many files are kept.")
    max_text_bytes: int = Field(default=10_000_000, description="Largest text that a tool reads or writes at once.")
    max_upload_bytes: int = Field(default=5_000_000_000, description="Largest file that can be uploaded.")
    max_request_bytes: int = Field(default=4_194_304, description="Largest JSON body.")
    quota_bytes: int = Field(default=0, ge=0, description="Most bytes that a person may keep; 0: no limit.")
    trash_days: int = Field(default=30, ge=1, description="Days after which what is in the trash is deleted for good.")
    removed_content_days: int = Field(
        default=7, ge=0, description="Days that the bytes of what is deleted for good stay set aside; 0: none."
    )
    keep_everything: bool = Field(
        default=False,
        description="Start although the files of the data directory don't belong together, and keep all contents.",
    )
    max_versions: int = Field(default=100, ge=1, description="Contents kept of a file, the newest always among them.")
    upload_hours: int = Field(default=24, ge=1, description="Hours that an unfinished resumable upload is kept.")
    time_zone: str = Field(default="", description="Where the people are, as Asia/Shanghai; empty: the server's zone.")
    public_url: str = Field(
        default="", description="Where people reach this service; empty: where it listens, or as the request says."
    )
    tls_cert: str = Field(
        default="", description="File (PEM) of the certificate of `serve` and those above it; empty: HTTP, not HTTPS."
    )
    tls_key: str = Field(default="", description="File (PEM) of the certificate's private key.")
    jwt_issuer: str = Field(
        default="", description="OpenID Connect issuer whose tokens are taken; empty: API keys only."
    )
    jwt_audience: str = Field(default="", description="The audience of such tokens; empty: the address of /mcp.")
    jwt_keys_url: str = Field(default="", description="Where the issuer's keys are; empty: as its metadata says.")
    jwt_create_users: bool = Field(
        default=False, description="Give people whom the issuer knows an account when they first come."
    )
    oauth_server: bool = Field(
        default=True,
        description="Let MCP hosts sign in by OAuth at this service; never with an issuer of tokens.",
    )
    smtp_url: SecretStr = Field(
        default=SecretStr(""), description="Mail server, as smtp://user:password@host:587 or smtps://; empty: no mails."
    )
    smtp_from: str = Field(default="", description="The address that mails come from.")
    oidc_issuer: str = Field(default="", description="OpenID Connect issuer at which people log in; empty: none.")
    oidc_client_id: str = Field(default="", description="The drive's id there; it comes back to /login/oidc/callback.")
    oidc_client_secret: SecretStr = Field(default=SecretStr(""), description="Its secret, if it has one.")
    oidc_create_users: bool = Field(
        default=False, description="Give people with a verified email an account when they first log in there."
    )
    oidc_link_by_email: bool = Field(
        default=False, description="Let who has a verified email there into the account of that email."
    )
    fresh_proof_minutes: int = Field(
        default=10, ge=1, description="After so long a person logs in again before they make a key or the like."
    )
    calls_per_minute: int = Field(default=600, ge=1, description="Calls that one key may make in a minute.")
    concurrent_calls: int = Field(default=16, ge=1, description="Calls that one session may have going on at once.")
    sessions_per_user: int = Field(default=50, ge=1, description="Open MCP sessions of one person.")
    session_idle_seconds: int = Field(default=1800, ge=1, description="After so long without a word a session ends.")
    answer_seconds: int = Field(default=300, ge=1, description="How long a person may take to answer a question.")
    page_size: int = Field(default=100, ge=1, le=1000, description="Entries in a page of MCP's own lists.")
    mcp_tools: Tier = Field(
        default="core", description="Tools that MCP hosts are shown at first: `core`, `all`, or `whole` definitions."
    )
    public_hosts: str = Field(
        default="", description="Host names (comma-separated) by which a proxy on this machine lets others in."
    )
    cors_origins: str = Field(
        default="", description="Sites (comma-separated origins) whose pages may call the API with a key; `*`: all."
    )
    connections_per_address: int = Field(
        default=512, ge=1, description="Open connections of one address without a key; a trusted proxy has no limit."
    )
    header_seconds: float = Field(default=10, gt=0, description="How long the headers of a request may take.")
    silent_seconds: float = Field(
        default=60, gt=0, description="How long a request's body may pause, or a reader read nothing."
    )
    log_level: LogLevel = Field(
        default="warning", description="The least that the log has: `debug` (each request), `info`, `warning`, `error`."
    )
    log_format: LogFormat = Field(default="text", description="`text`, or `json`: an object a line.")
    slow_seconds: float = Field(
        default=10, ge=0, description="A request that waits longer for its answer is a warning in the log; 0: none is."
    )
    otlp_endpoint: str = Field(
        default="", description="OTLP collector (HTTP) that traces are sent to, as http://127.0.0.1:4318; empty: none."
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="The API key of an MCP server over stdio.")

    _listens_at: str = PrivateAttr(default="")

    @field_validator("time_zone")
    @classmethod
    def _check_time_zone(cls, name: str) -> str:
        """Refuse an unknown time zone."""
        if name and zone_of(name) is None:
            raise ValueError("write it as Asia/Shanghai or Europe/Berlin")
        return name

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, url: str) -> str:
        """Refuse a text that is no address of a site."""
        if url and not _is_site(url):
            raise ValueError("write it as https://drive.example.com, with nothing after the host and port")
        return url.rstrip("/")

    @field_validator("cors_origins")
    @classmethod
    def _check_cors_origins(cls, origins: str) -> str:
        """Refuse a text that is no origin of a site."""
        named = [origin.strip().rstrip("/") for origin in origins.split(",") if origin.strip()]
        if any(origin != "*" and not _is_site(origin) for origin in named):
            raise ValueError("write each as https://app.example.com, with nothing after the host and port; or *")
        return ",".join(named)

    def listening_at(self, url: str) -> Self:
        """Return the settings of a service that listens at this address."""
        copy = self.model_copy()
        copy._listens_at = url
        return copy

    @property
    def resolved_public_url(self) -> str:
        """The address by which people reach this service: the known one, or where it listens unless told otherwise."""
        return self.known_address or USUAL_ADDRESS

    @property
    def known_address(self) -> str:
        """The address by which people reach this service: the one that is set, or the listener's; else empty."""
        return self.public_url.rstrip("/") or self._listens_at

    @property
    def resolved_time_zone(self) -> str:
        """The time zone of people who name none: the one that is set, or the server's; empty if that has no name.

        It is read from files.
        """
        return self.time_zone or server_zone()

    @property
    def root(self) -> Path:
        """The data directory, absolute, with `~` resolved."""
        return self.data_dir.expanduser().absolute()

    @property
    def resolved_database_url(self) -> str:
        """The database's URL, the embedded one if none is set."""
        return self.database_url or f"sqlite+aiosqlite:///{self.root / 'drive.db'}"

    @property
    def is_embedded(self) -> bool:
        """Whether the database is a file of this machine, whose owner the local access token lets in."""
        return self.resolved_database_url.startswith("sqlite")

    @property
    def resolved_blob_url(self) -> str:
        """The blob store's URL, the embedded one if none is set."""
        return self.blob_url or (self.root / "blobs").as_uri()

    @property
    def resolved_index_url(self) -> str:
        """The index's URI, the embedded one if none is set."""
        return self.index_url or str(self.root / "index")

    @property
    def resolved_cors_origins(self) -> tuple[str, ...]:
        """The origins of sites whose pages may call the API; none by default."""
        return tuple(self.cors_origins.split(",")) if self.cors_origins else ()

    @property
    def mcp_url(self) -> str:
        """Return the address of the MCP server: the name of this drive as an OAuth resource."""
        return self.resolved_public_url + "/mcp"

    @property
    def lets_programs_sign_in(self) -> bool:
        """Whether the service is its own OAuth authorization server."""
        return self.oauth_server and not self.jwt_issuer

    @property
    def token_path(self) -> Path:
        """The file (mode 0600) with the local access token."""
        return self.root / "token"

    @property
    def config_path(self) -> Path:
        """The configuration file that counts when no other is named."""
        return self.root / "drive-agent.env"


def _is_site(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_reachable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    rest = (parts.path.strip("/"), parts.query, parts.fragment, parts.username or "")
    return is_reachable and parts.scheme in {"http", "https"} and not any(rest) and url.isprintable() and " " not in url
