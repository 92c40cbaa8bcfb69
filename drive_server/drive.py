"""The drive as its faces (MCP, HTTP) get it: every service, built."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from drive_server.knowledge.ingest import Ingester
    from drive_server.services.documents import DocumentService
    from drive_server.services.files import FileService
    from drive_server.services.identity import IdentityService
    from drive_server.services.journal import Journal
    from drive_server.services.search import SearchService
    from drive_server.services.sharing import SharingService
    from drive_server.settings import DriveSettings
    from drive_server.signing import Signer
    from drive_server.storage.blobs import BlobStore
    from drive_server.storage.database import Database


@dataclass(slots=True, eq=False)
class Drive:
    """One drive. The services check scopes and roles themselves; `database` and `blobs` check nothing.

    `server` is the protocol's side of the MCP server for sessions inside this process; it is built last, from the rest.
    """

    settings: "DriveSettings"
    database: "Database"
    blobs: "BlobStore"
    signer: "Signer"
    identity: "IdentityService"
    files: "FileService"
    documents: "DocumentService"
    sharing: "SharingService"
    search: "SearchService"
    journal: "Journal"
    ingester: "Ingester"
    server: "Server[Any, Any]" = field(init=False)
