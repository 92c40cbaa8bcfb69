"""The drive's public face in Python: `open_drive` builds it, `in_process_session` speaks MCP with it."""

import asyncio
import logging
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import anyio
from mcp.shared.memory import create_client_server_memory_streams

from drive_server.drive import Drive
from drive_server.kernel.access import ALL_SCOPES, Actor, Principal, Scope
from drive_server.kernel.clock import PROCESS_CLOCK, Clock, utc_now
from drive_server.kernel.context import (
    META_APPROVAL_ID,
    META_APPROVED_BY,
    META_APPROVED_KEY,
    META_CHANGE_ID,
    META_DRY_RUN,
    META_EFFECT,
    META_FOREIGN,
    META_GRANT_ID,
    META_IDEMPOTENCY_KEY,
    META_IF_MATCH,
    META_OF_OTHERS,
    META_REPLAYED,
    META_RUN_ID,
    META_TIME_ZONE,
    META_TOOL,
    META_TOOL_CALL_ID,
    current_principal,
    request_address,
)
from drive_server.kernel.errors import UnauthenticatedError
from drive_server.kernel.files.token_file import make_private_directory
from drive_server.kernel.settings import DriveSettings, read_settings
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.embedding.selection import Embedders
from drive_server.knowledge.index.health import IndexHealth
from drive_server.knowledge.index.reranking import Reranker
from drive_server.knowledge.index_process.proxy import IndexProcess
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.ingest.shared_health import SharedHealth
from drive_server.knowledge.ingest.watching import IndexStatuses
from drive_server.knowledge.memory import limit_arenas
from drive_server.knowledge.readers.recognized import RecognizedTexts, has_ocr
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.mcp.sdk import ConcurrentSession, InProcessSession, next_request_id
from drive_server.mcp.server import build_server
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
from drive_server.services.files.trash import Expiry
from drive_server.services.housekeeping import Housekeeping
from drive_server.services.identity.login_links import LoginLinks
from drive_server.services.identity.passkeys import PasskeyService
from drive_server.services.identity.passwords import PasswordService
from drive_server.services.identity.programs.clients import ClientService
from drive_server.services.identity.programs.documents import ClientDocuments
from drive_server.services.identity.programs.grants import GrantService
from drive_server.services.identity.service import IdentityService
from drive_server.services.identity.sessions import SessionService
from drive_server.services.identity.sign_ins import SignInService
from drive_server.services.journal.feed import ChangeFeed
from drive_server.services.journal.following import ChangeFollower
from drive_server.services.journal.moments import last_moment
from drive_server.services.journal.service import Journal
from drive_server.services.mail.outbox import Outbox
from drive_server.services.mail.smtp import SmtpServer
from drive_server.services.map_reduce.language_model import ChatCompletions
from drive_server.services.map_reduce.selection import FileSelector
from drive_server.services.map_reduce.service import MapReduceService
from drive_server.services.map_reduce.stored_results import StoredResults
from drive_server.services.measures import Measures
from drive_server.services.people.groups import GroupService
from drive_server.services.people.service import PeopleService
from drive_server.services.quota import Limits, QuotaService
from drive_server.services.saves.service import SaveService
from drive_server.services.search.folder_index import FolderIndex
from drive_server.services.search.service import RelatedFiles, SearchService
from drive_server.services.search.suggestions import SuggestionService
from drive_server.services.sharing.accounts import AccountService
from drive_server.services.sharing.contacts import ContactService
from drive_server.services.sharing.link_downloads import link_downloads, remove_old_fetches
from drive_server.services.sharing.link_passwords import LinkPasswords
from drive_server.services.sharing.link_visits import LinkVisits
from drive_server.services.sharing.links import LinkService
from drive_server.services.sharing.notices import NoticeService
from drive_server.services.sharing.service import SharingService
from drive_server.services.tasks import TaskService
from drive_server.services.text.contents import Contents
from drive_server.services.throttles.windows import remove_old_attempts
from drive_server.services.undo.service import UndoService
from drive_server.services.uploads.partials import partials_of
from drive_server.services.uploads.service import UploadService
from drive_server.services.webdav.checksums import DavChecksums
from drive_server.services.webdav.facts import DavFacts
from drive_server.services.webdav.locks import DavLocks
from drive_server.services.webdav.properties import DavProperties
from drive_server.storage.blobs import BlobStore, open_blobs
from drive_server.storage.collector import Collector, Rules
from drive_server.storage.installation.installation import installation_of
from drive_server.storage.process_locks import process_lock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence

    from mcp import ClientSession
    from mcp.client.session import SamplingFnT

    from drive_server.services.identity.oidc import OidcService
    from drive_server.services.identity.tokens import TokenService
    from drive_server.storage.installation.parts import Part

__all__ = [
    "ALL_SCOPES",
    "META_APPROVAL_ID",
    "META_APPROVED_BY",
    "META_APPROVED_KEY",
    "META_CHANGE_ID",
    "META_DRY_RUN",
    "META_EFFECT",
    "META_FOREIGN",
    "META_GRANT_ID",
    "META_IDEMPOTENCY_KEY",
    "META_IF_MATCH",
    "META_OF_OTHERS",
    "META_REPLAYED",
    "META_RUN_ID",
    "META_TIME_ZONE",
    "META_TOOL",
    "META_TOOL_CALL_ID",
    "Actor",
    "ConcurrentSession",
    "Drive",
    "DriveSettings",
    "InProcessSession",
    "Measures",
    "Principal",
    "Scope",
    "UnauthenticatedError",
    "in_process_session",
    "next_request_id",
    "open_drive",
    "read_settings",
]

logger = logging.getLogger(__name__)

READ_TIMEOUT = timedelta(seconds=60)
DEFAULT_MODEL = "gpt-4.1-mini"
UPLOADS_FOLDER = ".uploads"
NO_MODEL = frozenset({"none", "offline"})
OTHER_PROVIDERS = frozenset(
    {"anthropic", "deepseek", "google_genai", "groq", "mistralai", "ollama", "openrouter", "together", "xai"}
)
"""Providers that AGENT_MODEL may begin with: their models are not those of the service of OPENAI_BASE_URL."""


@asynccontextmanager
async def open_drive(
    settings: DriveSettings, clock: Clock = utc_now, parts: "Sequence[Part]" = ()
) -> "AsyncGenerator[Drive]":
    """Build the drive, index new content in the background while it is open, and close everything at the end.

    `clock` decides people's "today"; `parts` are those of the installation that other packages have. May be
    entered and left in different tasks. Raises `InvalidInputError` for malformed settings and `StorageFailureError` if
    the data directory or the database can't be used, or if the parts of the installation don't belong together.
    """
    async with AsyncExitStack() as stack:
        yield await _build(settings, clock, parts, stack)


def _token_service(settings: DriveSettings) -> "TokenService | None":
    """Return the service that checks an issuer's tokens; None without an issuer, to save an import of ciphers."""
    if not settings.jwt_issuer:
        return None
    from drive_server.services.identity.tokens import TokenService

    return TokenService(settings)


def _oidc_service(settings: DriveSettings, database: Database, identity: IdentityService) -> "OidcService | None":
    """Return the service that logs people in at an issuer; None without one, which saves the same imports."""
    if not (settings.oidc_issuer and settings.oidc_client_id):
        return None
    from drive_server.services.identity.oidc import OidcService

    return OidcService(settings, database, identity)


async def _build(settings: DriveSettings, clock: Clock, parts: "Sequence[Part]", stack: AsyncExitStack) -> Drive:
    limit_arenas()  # before the first thread
    time_zone = await anyio.to_thread.run_sync(lambda: settings.resolved_time_zone)  # it is read from files
    await anyio.to_thread.run_sync(make_private_directory, settings.root)
    installation = installation_of(settings, parts)
    database = await installation.open()
    stack.push_async_callback(database.dispose)
    stack.push_async_callback(installation.mark)
    PROCESS_CLOCK.begin_at(await last_moment(database))
    blobs = await open_blobs(settings.resolved_blob_url)
    recognized = RecognizedTexts(database) if has_ocr() else None
    texts = TextSource(blobs, recognized)
    stack.callback(texts.close)
    embedders = _embedders(settings)
    stack.push_async_callback(embedders.close)
    embedder = embedders.open(settings.embedding_model)
    late = embedders.open_late(settings.embedding_model)
    health = IndexHealth(None if database.takes_turns else settings.root / "index.health")
    shared_health = SharedHealth(database, health) if database.takes_turns else None
    index = IndexProcess(settings.resolved_index_url, embedder, embedders.by_name, late, health)
    stack.push_async_callback(index.end)
    writing = process_lock(database, settings.root / "index.lock")
    ingester = Ingester(database, texts, embedder, index, writing, recognized=recognized, shared_health=shared_health)
    limits = Limits(quota_bytes=settings.quota_bytes, max_versions=settings.max_versions)
    journal = Journal(database, blobs, on_content_change=ingester.wake, limits=limits)
    tokens = _token_service(settings)
    if tokens is not None:
        stack.push_async_callback(tokens.close)
    documents = DocumentService(database, blobs, journal, texts, max_text_bytes=settings.max_text_bytes)
    housekeeping = Housekeeping(process_lock(database, settings.root / "housekeeping.lock"))
    fresh_for = timedelta(minutes=settings.fresh_proof_minutes)
    identity = IdentityService(database, settings.token_path, tokens=tokens, fresh_for=fresh_for)
    passwords = LinkPasswords(database=database)
    outbox = Outbox(database, _mail_server(settings))
    notices = NoticeService(database, outbox, settings.resolved_public_url)
    drive = Drive(
        settings=settings,
        clock=clock,
        database=database,
        blobs=blobs,
        installation=installation,
        signer=database.signer,
        identity=identity,
        sessions=(sessions := SessionService(database)),
        oidc=(oidc := _oidc_service(settings, database, identity)),
        passwords=PasswordService(database, identity, sessions, outbox, settings.resolved_public_url),
        passkeys=PasskeyService(database, identity, sessions, settings.resolved_public_url),
        people=PeopleService(database, identity, journal),
        groups=GroupService(database, journal),
        login_links=LoginLinks(database, identity, settings.resolved_public_url),
        sign_ins=SignInService(database, database.signer, settings.resolved_public_url),
        clients=ClientService(database, database.signer, client_documents := ClientDocuments()),
        grants=GrantService(database, database.signer, identity),
        files=FileService(database, journal),
        batches=BatchService(journal),
        bulk=BulkService(journal),
        stars=StarService(database, clock),
        archives=ArchiveService(database, blobs, time_zone),
        documents=documents,
        templates=TemplateService(database, journal, Contents(blobs, texts, settings.max_text_bytes)),
        thumbnails=ThumbnailService(documents, texts),
        citations=Citations(documents.readings),
        comparison=FileComparison(documents.readings),
        table_queries=TableService(documents.readings, texts),
        uploads=_uploads(settings, database, blobs, documents, limits),
        dav_locks=(dav_locks := DavLocks(database)),
        dav_facts=DavFacts(database, dav_locks),
        dav_properties=DavProperties(database),
        dav_checksums=DavChecksums(database, blobs),
        saves=SaveService(database, journal, clock),
        quota=QuotaService(database, limits),
        housekeeping=housekeeping,
        outbox=outbox,
        notices=notices,
        sharing=SharingService(database, journal, notices, accounts := AccountService(database)),
        accounts=accounts,
        contacts=ContactService(database),
        links=LinkService(database, journal, passwords, settings.resolved_public_url),
        visits=LinkVisits(database, passwords, link_downloads(database)),
        downloads=DownloadService(documents, identity, database.signer, settings.resolved_public_url),
        search=(search := SearchService(database, index, _reranker(settings, stack))),
        related=RelatedFiles(documents, search),
        journal=journal,
        feed=(feed := ChangeFeed(database)),
        follower=ChangeFollower(database, feed),
        undo=UndoService(journal),
        inventory=Inventory(database, blobs),
        imported_contents=(imported := ImportedContents(database, blobs, limits, max_bytes=settings.max_upload_bytes)),
        imports=ImportService(journal, imported),
        tasks=TaskService(database, database.signer),
        recents=(recents := Recents(database)),
        suggestions=SuggestionService(database),
        ingester=ingester,
        index_statuses=(statuses := IndexStatuses(database, ingester)),
        folder_index=FolderIndex(database, ingester),
        map_reduce=MapReduceService(documents, FileSelector(database, search), settings.bulk_concurrency),
        map_reduce_results=StoredResults(database, timedelta(days=settings.result_days)),
        language_model=(language_model := _language_model(settings)),
    )
    if language_model is not None:
        stack.push_async_callback(language_model.close)
    stack.push_async_callback(drive.sign_ins.close)
    stack.push_async_callback(client_documents.close)
    if oidc is not None:
        stack.push_async_callback(oidc.close)
    drive.server = build_server(drive, default_key=settings.api_key.get_secret_value())
    subscriptions = drive.server.subscriptions
    await feed.start()
    journal.on_change = _each(feed.wake, notices.polls.wake, statuses.polls.wake, installation.wake)
    await stack.enter_async_context(_running("drive-installation", installation.run))
    await stack.enter_async_context(_running("drive-feed", feed.run))
    await stack.enter_async_context(_running("drive-notices", notices.polls.run))
    await stack.enter_async_context(_running("drive-index-statuses", statuses.polls.run))
    await stack.enter_async_context(_running("drive-subscriptions", subscriptions.run))
    stack.push_async_callback(identity.uses.flush)
    await stack.enter_async_context(_running("drive-key-uses", identity.uses.run))
    identity.on_key = drive.server.tool_lists.wake
    await stack.enter_async_context(_running("drive-tool-lists", drive.server.tool_lists.run))
    stack.push_async_callback(recents.flush)
    await stack.enter_async_context(_running("drive-recents", recents.run))
    await stack.enter_async_context(_running("drive-people", drive.people.watch))
    drive.sessions.on_revoked = identity.revocations.tell_new
    await stack.enter_async_context(_running("drive-revocations", identity.revocations.watch))
    if outbox.can_send:
        await stack.enter_async_context(_running("drive-outbox", outbox.run))
    await stack.enter_async_context(_running("drive-tasks", drive.server.tasks.run))
    housekeeping.add("uploads", drive.uploads.expire)
    housekeeping.add("WebDAV locks", drive.dav_locks.expire)
    housekeeping.add("saves", drive.saves.expire)
    housekeeping.add("sign-ins", drive.sign_ins.remove_expired)
    housekeeping.add("programs", drive.clients.remove_unused)
    housekeeping.add("grants", drive.grants.remove_old)
    housekeeping.add("attempts", partial(remove_old_attempts, database))
    housekeeping.add("downloads by links", partial(remove_old_fetches, database))
    housekeeping.add("mails", outbox.remove_old)
    housekeeping.add("tasks", drive.tasks.expire)
    housekeeping.add("bulk results", drive.map_reduce_results.expire)
    housekeeping.add("trash", Expiry(database, journal, settings.trash_days).run_once)
    rules = Rules(settings.removed_content_days, keeps_unknown=settings.keep_everything)
    housekeeping.add("contents", Collector(database, blobs, rules=rules).run_once)
    housekeeping.add("marks", installation.mark)
    await stack.enter_async_context(_running("drive-housekeeping", housekeeping.run))
    await stack.enter_async_context(_running("drive-ingester", ingester.run))
    return drive


def _each(*listeners: "Callable[[], None]") -> "Callable[[], None]":
    def call() -> None:
        for listener in listeners:
            listener()

    return call


def _mail_server(settings: DriveSettings) -> SmtpServer | None:
    url = settings.smtp_url.get_secret_value()
    return SmtpServer.of(url, settings.smtp_from) if url else None


def _reranker(settings: DriveSettings, stack: AsyncExitStack) -> Reranker | None:
    if not settings.rerank_url:
        return None
    reranker = Reranker(settings.rerank_url, settings.rerank_model, settings.rerank_key.get_secret_value())
    stack.push_async_callback(reranker.close)
    return reranker


def _embedders(settings: DriveSettings) -> Embedders:
    return Embedders(
        settings.embedding_url,
        settings.embedding_key.get_secret_value(),
        openai_url=settings.openai_base_url,
        openai_key=settings.openai_api_key.get_secret_value(),
    )


def _language_model(settings: DriveSettings) -> ChatCompletions | None:
    """Return the drive's own model; None unless a key is set, or a service with the name of a model."""
    key = (settings.language_key.get_secret_value() or settings.openai_api_key.get_secret_value()).strip()
    url = settings.language_url or settings.openai_base_url
    name = settings.language_model.removeprefix("openai:")
    if name.partition(":")[0] in OTHER_PROVIDERS or name in NO_MODEL or not (key or (url and name)):
        return None
    return ChatCompletions(url, key, name or DEFAULT_MODEL, seconds=settings.language_seconds)


def _uploads(
    settings: DriveSettings, database: Database, blobs: BlobStore, documents: DocumentService, limits: Limits
) -> UploadService:
    return UploadService(
        database,
        blobs,
        documents,
        partials_of(database, blobs, _upload_folder(settings), is_embedded=settings.is_embedded),
        limits,
        max_bytes=settings.max_upload_bytes,
        kept_for=timedelta(hours=settings.upload_hours),
    )


def _upload_folder(settings: DriveSettings) -> Path:
    """Return the folder of unfinished uploads: beside the contents if several processes share these."""
    contents = urlsplit(settings.blob_url)
    if settings.is_embedded or contents.scheme != "file":
        return settings.root / "uploads"
    return Path(unquote(contents.path)) / UPLOADS_FOLDER


@asynccontextmanager
async def _running(name: str, work: "Callable[[], Coroutine[Any, Any, None]]") -> "AsyncGenerator[None]":
    """Run the work in a task of its own, and end it. A task group would tie the caller to one task from here on."""
    task = asyncio.create_task(work(), name=name)
    task.add_done_callback(_report_failure)
    try:
        yield
    finally:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task})


def _report_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("The task %s ended early.", task.get_name(), exc_info=error)


@asynccontextmanager
async def in_process_session(
    drive: Drive, principal: Principal, *, read_timeout: timedelta = READ_TIMEOUT, sampling: "SamplingFnT | None" = None
) -> "AsyncGenerator[ClientSession]":
    """Open an MCP session with the drive inside this process, in the name of the principal.

    `sampling` answers when the drive asks for a language model, several times at once, and must not raise.

    A task of its own opens, owns and closes the session, so that this may be entered and left in different tasks.
    A call that gets no answer within `read_timeout` raises `McpError`.
    """
    opened: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
    closing = asyncio.Event()
    owner = asyncio.create_task(
        _own_session(drive, principal, read_timeout, sampling, opened, closing),
        name=f"drive-session-{principal.user_id}",
    )
    try:
        await asyncio.wait({owner, opened}, return_when=asyncio.FIRST_COMPLETED)
        if owner.done():
            owner.result()
        yield opened.result()
    finally:
        closing.set()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({owner})
    owner.result()


async def _own_session(
    drive: Drive,
    principal: Principal,
    read_timeout: timedelta,
    sampling: "SamplingFnT | None",
    opened: "asyncio.Future[ClientSession]",
    closing: asyncio.Event,
) -> None:
    # This task's context is its own: every handler of the session inherits the principal, and nobody else does.
    current_principal.set(principal)
    # It serves many requests: none of them names the address for the others.
    request_address.set("")
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
        protocol = drive.server.protocol
        group.start_soon(protocol.run, *theirs, protocol.create_initialization_options())
        async with InProcessSession(*ours, read_timeout, sampling) as session:
            await session.initialize()
            opened.set_result(session)
            await closing.wait()
        group.cancel_scope.cancel()
