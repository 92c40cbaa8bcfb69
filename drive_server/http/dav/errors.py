"""Errors as WebDAV clients read them: a status, the precondition that failed, the drive's code and sentence."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi import Request, Response
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs
from wsgidav.dav_error import DAVError

from drive_server.http.dav.call import RefusedError, status_of
from drive_server.kernel.errors import DriveError
from drive_server.kernel.http.languages import CONTENT_LANGUAGE, TAGS, language_of
from drive_server.kernel.http.problem import CODES
from drive_server.kernel.messages import Message, render

logger = logging.getLogger(__name__)

XML: Final = "application/xml; charset=utf-8"
NAMESPACE: Final = "urn:drive-agent:error"
STATUS_CODES: Final = {
    **CODES,
    500: DriveError.code,
    412: "etag_mismatch",
    423: "state_conflict",
    409: "not_found",
    502: "forbidden",
}


def error_response(request: Request, error: DriveError, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error of the drive as a response."""
    return _response(request, status_of(error), None, error, headers)


def dav_response(request: Request, error: DAVError) -> Response:
    """Return an error of WebDAV as a response. One that nobody expected is logged, and says no more than that."""
    cause = error.error if isinstance(error, RefusedError) else None
    if error.value >= HTTPStatus.INTERNAL_SERVER_ERROR and cause is None and error.src_exception is not None:
        logger.error("%s failed.", request.method, exc_info=error.src_exception)
    return _response(request, error.value, error, cause, None)


def _response(
    request: Request,
    status: int,
    error: DAVError | None,
    cause: DriveError | None,
    headers: Mapping[str, str] | None,
) -> Response:
    if status in {HTTPStatus.NOT_MODIFIED, HTTPStatus.NO_CONTENT}:
        return Response(None, status)
    language = language_of(request)
    shown = dict(headers or {}) | {CONTENT_LANGUAGE: TAGS[language]}
    if cause is not None and (seconds := cause.details.get("retry_after_seconds")) is not None:
        shown["Retry-After"] = str(seconds)
    code = cause.code if cause else STATUS_CODES.get(status, "http_error")
    sentence = " ".join(cause.texts(language)) if cause else render(Message.of(f"error.{code}"), language)
    condition = error.err_condition if error is not None else None
    root = etree.Element("{DAV:}error", nsmap={"D": "DAV:", "s": NAMESPACE})
    for child in condition.as_xml() if condition is not None else ():
        root.append(child)
    etree.SubElement(root, f"{{{NAMESPACE}}}code").text = code
    etree.SubElement(root, f"{{{NAMESPACE}}}message").text = sentence
    body = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return Response(None if request.method == "HEAD" else body, status, shown, media_type=XML)
