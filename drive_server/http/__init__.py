"""The drive over HTTP: bytes and lists, login and keys, and MCP's Streamable HTTP."""

from fastapi import APIRouter

from drive_server.http import auth, files, items, search
from drive_server.http.access import bearer_token, principal_of_request
from drive_server.http.limits import BodyLimit
from drive_server.http.mcp import mount_mcp, serving
from drive_server.http.problem import install_problem_handlers

__all__ = [
    "BodyLimit",
    "bearer_token",
    "build_http",
    "build_pages",
    "install_problem_handlers",
    "mount_mcp",
    "principal_of_request",
    "serving",
]


def build_http() -> APIRouter:
    """Return the routes below `/api`. They serve the drive that `serving` was given."""
    drive = APIRouter(prefix="/drive")
    for part in (search, files, items):
        drive.include_router(part.router)
    api = APIRouter(prefix="/api")
    api.include_router(drive)
    api.include_router(auth.router)
    return api


def build_pages() -> APIRouter:
    """Return the routes at the root that people and programs without a key reach: pages, metadata."""
    return APIRouter()
