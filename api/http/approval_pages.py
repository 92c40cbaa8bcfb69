"""The address of the page on which an approval is decided: it holds until somebody has decided."""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from api.clock import Clock
from api.http.dependencies import ServiceDep
from api.service import Service
from api.storage.tables import WAITING, ApprovalRow
from drive_server.http.pages.layout import Words, page, sentence, words_of
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.texts import Texts

PAGE: Final = "/approve"
PURPOSE: Final = "page of an approval"
TEXTS: Final = Texts.beside(__file__)
WORDS: Final[Words] = words_of(TEXTS, "approval_pages")

router = APIRouter(tags=["page"], include_in_schema=False)


def address_of(service: Service, approval_id: str) -> str:
    """Return the address for an approval: always the same one, which nobody can guess."""
    token = service.database.signer.sign(PURPOSE, approval_id.encode())
    return f"{service.drive.public_address()}{PAGE}/{token}"


@router.get(f"{PAGE}/{{token}}")
async def open_approval(token: str, request: Request, service: ServiceDep) -> Response:
    """Lead to the conversation with the approval, which asks for the sign-in of its person."""
    found = service.database.signer.verify(PURPOSE, token)
    row = await service.approvals.find(found.decode("utf-8", "replace")) if found else None
    if row is None or not _waits(row, service.clock):
        language = language_of(request)
        return page(language, WORDS["title"][language], f"<p>{sentence(WORDS, language, 'gone')}</p>", 404)
    return RedirectResponse(f"/#/folder/root?thread={row.thread_id}", 303)


def _waits(row: ApprovalRow, clock: Clock) -> bool:
    return row.status == WAITING and row.expires_at > clock.now()
