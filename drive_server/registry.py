"""Every service of one drive, as tools, resources and prompts get them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drive_server.kernel.context import public_address

if TYPE_CHECKING:
    from drive_server.kernel.clock import Clock
    from drive_server.kernel.settings import DriveSettings
    from drive_server.kernel.signing import Signer
    from drive_server.kernel.sql.database import Database
    from drive_server.knowledge.ingest.ingester import Ingester
    from drive_server.knowledge.ingest.watching import IndexStatuses
    from drive_server.services.documents.citations import Citations
    from drive_server.services.documents.comparison import FileComparison
    from drive_server.services.documents.downloads import DownloadService
    from drive_server.services.documents.service import DocumentService
    from drive_server.services.documents.tables import TableService
    from drive_server.services.documents.templates import TemplateService
    from drive_server.services.documents.thumbnails import ThumbnailService
    from drive_server.services.exports.contents import ImportedContents
    from drive_server.services.exports.inventory import Inventory
    from drive_server.services.exports.restoring import ImportService
    from drive_server.services.files.archives import ArchiveService
    from drive_server.services.files.batches import BatchService
    from drive_server.services.files.bulk import BulkService
    from drive_server.services.files.recent import Recents
    from drive_server.services.files.service import FileService
    from drive_server.services.files.stars import StarService
    from drive_server.services.housekeeping import Housekeeping
    from drive_server.services.identity.login_links import LoginLinks
    from drive_server.services.identity.oidc import OidcService
    from drive_server.services.identity.passkeys import PasskeyService
    from drive_server.services.identity.passwords import PasswordService
    from drive_server.services.identity.programs.clients import ClientService
    from drive_server.services.identity.programs.grants import GrantService
    from drive_server.services.identity.service import IdentityService
    from drive_server.services.identity.sessions import SessionService
    from drive_server.services.identity.sign_ins import SignInService
    from drive_server.services.journal.feed import ChangeFeed
    from drive_server.services.journal.following import ChangeFollower
    from drive_server.services.journal.service import Journal
    from drive_server.services.mail.outbox import Outbox
    from drive_server.services.map_reduce.language_model import LanguageModel
    from drive_server.services.map_reduce.service import MapReduceService
    from drive_server.services.map_reduce.stored_results import StoredResults
    from drive_server.services.people.groups import GroupService
    from drive_server.services.people.service import PeopleService
    from drive_server.services.quota import QuotaService
    from drive_server.services.saves.service import SaveService
    from drive_server.services.search.folder_index import FolderIndex
    from drive_server.services.search.service import RelatedFiles, SearchService
    from drive_server.services.search.suggestions import SuggestionService
    from drive_server.services.sharing.accounts import AccountService
    from drive_server.services.sharing.contacts import ContactService
    from drive_server.services.sharing.link_visits import LinkVisits
    from drive_server.services.sharing.links import LinkService
    from drive_server.services.sharing.notices import NoticeService
    from drive_server.services.sharing.service import SharingService
    from drive_server.services.tasks import TaskService
    from drive_server.services.undo.service import UndoService
    from drive_server.services.uploads.service import UploadService
    from drive_server.services.webdav.checksums import DavChecksums
    from drive_server.services.webdav.facts import DavFacts
    from drive_server.services.webdav.locks import DavLocks
    from drive_server.services.webdav.properties import DavProperties
    from drive_server.storage.blobs import BlobStore
    from drive_server.storage.installation.installation import Installation


@dataclass(slots=True, eq=False)
class ServiceRegistry:
    """The services of one drive, which check scopes and roles themselves; `database` and `blobs` check nothing.

    `clock` decides people's "today". `oidc` is None where the settings name no issuer to log in at.
    """

    settings: "DriveSettings"
    clock: "Clock"
    database: "Database"
    blobs: "BlobStore"
    installation: "Installation"
    signer: "Signer"
    identity: "IdentityService"
    sessions: "SessionService"
    oidc: "OidcService | None"
    passwords: "PasswordService"
    passkeys: "PasskeyService"
    people: "PeopleService"
    groups: "GroupService"
    login_links: "LoginLinks"
    sign_ins: "SignInService"
    clients: "ClientService"
    grants: "GrantService"
    files: "FileService"
    batches: "BatchService"
    bulk: "BulkService"
    stars: "StarService"
    archives: "ArchiveService"
    documents: "DocumentService"
    templates: "TemplateService"
    thumbnails: "ThumbnailService"
    citations: "Citations"
    comparison: "FileComparison"
    table_queries: "TableService"
    uploads: "UploadService"
    dav_locks: "DavLocks"
    dav_facts: "DavFacts"
    dav_properties: "DavProperties"
    dav_checksums: "DavChecksums"
    saves: "SaveService"
    quota: "QuotaService"
    housekeeping: "Housekeeping"
    sharing: "SharingService"
    accounts: "AccountService"
    contacts: "ContactService"
    outbox: "Outbox"
    notices: "NoticeService"
    links: "LinkService"
    visits: "LinkVisits"
    downloads: "DownloadService"
    search: "SearchService"
    related: "RelatedFiles"
    folder_index: "FolderIndex"
    journal: "Journal"
    feed: "ChangeFeed"
    follower: "ChangeFollower"
    undo: "UndoService"
    inventory: "Inventory"
    imported_contents: "ImportedContents"
    imports: "ImportService"
    tasks: "TaskService"
    recents: "Recents"
    suggestions: "SuggestionService"
    ingester: "Ingester"
    index_statuses: "IndexStatuses"
    map_reduce: "MapReduceService"
    map_reduce_results: "StoredResults"
    language_model: "LanguageModel | None"

    @property
    def known_address(self) -> str:
        """The address at which a service answers now, without a slash at its end; empty if none is known of."""
        return public_address(self.settings.known_address)

    @property
    def address(self) -> str:
        """The address that links lead to now, without a slash at its end."""
        return public_address(self.settings.resolved_public_url)
