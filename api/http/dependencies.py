"""The dependencies of routes as annotated types, so that a signature names the caller and the services it needs.

All of them are asynchronous, though few wait: FastAPI would run each in a thread.
"""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from api.authority import require_scopes
from api.drive import Principal
from api.service import Service
from drive_server.kernel.errors import DriveError

bearer = HTTPBearer(
    auto_error=False, description="The local access token or an API key; a browser's session cookie works too."
)


async def get_service(request: Request) -> Service:
    """Return the running service."""
    return request.app.state.service


ServiceDep = Annotated[Service, Depends(get_service)]


async def get_caller(request: Request, service: ServiceDep) -> Principal:
    """Return the caller. Raises the drive's 401, and `MissingScopeError` if they may not read: every answer tells."""
    caller = await service.drive.authenticate(request)
    require_scopes(caller, ["read"])
    return caller


async def is_still_caller(request: Request, service: Service) -> bool:
    """Return whether the key or session of a stream's client still holds, and may read."""
    try:
        await get_caller(request, service)
    except DriveError:
        return False
    return True


async def get_writer(caller: Annotated[Principal, Depends(get_caller)]) -> Principal:
    """Return the caller. Raises `MissingScopeError` if they may not write."""
    require_scopes(caller, ["write"])
    return caller


CallerDep = Annotated[Principal, Depends(get_caller)]
WriterDep = Annotated[Principal, Depends(get_writer)]
