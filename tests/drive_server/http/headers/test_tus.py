"""Refusals of tus name the header or the extension, in the caller's language."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

UPLOADS = "/api/drive/uploads"
VERSION = {"Tus-Resumable": "1.0.0"}
NAMED = {"Upload-Metadata": f"filename {b64encode(b'a.bin').decode()}"}


async def refused(client: httpx.AsyncClient, headers: dict[str, str], language: str = "en") -> dict[str, object]:
    answer = await client.post(UPLOADS, headers={**headers, "Accept-Language": language})
    assert answer.status_code in {400, 412}
    return answer.json()


@pytest.mark.parametrize(
    ("headers", "sentence", "chinese"),
    [
        ({}, "This is for clients of the protocol tus.", "此地址只供 tus 协议的客户端使用。"),
        (VERSION, "The header Upload-Metadata is missing.", "缺少标头 Upload-Metadata。"),
        ({**VERSION, **NAMED}, "The header Upload-Length is missing.", "缺少标头 Upload-Length。"),
        (
            {**VERSION, **NAMED, "Upload-Length": "many"},
            "The header Upload-Length is malformed.",
            "标头 Upload-Length 格式不对。",
        ),
        (
            {**VERSION, "Upload-Concat": "partial", "Upload-Length": "5"},
            "This service does not have the tus extension concatenation.",
            "本服务不支持 tus 扩展 concatenation。",
        ),
        (
            {**VERSION, **NAMED, "Upload-Length": "5", "Trailer": "Upload-Checksum"},
            "This service does not have the tus extension checksum-trailer.",
            "本服务不支持 tus 扩展 checksum-trailer。",
        ),
    ],
)
async def test_a_refusal_names_the_header_or_extension_that_is_missing_in_both_languages(
    service: Service, headers: dict[str, str], sentence: str, chinese: str
) -> None:
    async with service.client() as client:
        assert (await refused(client, headers))["detail"] == sentence
        assert (await refused(client, headers, "zh-CN"))["detail"] == chinese


async def test_the_refusal_of_an_extension_names_those_that_there_are(service: Service) -> None:
    async with service.client() as client:
        refusal = await refused(client, {**VERSION, "Upload-Concat": "final;/a /b"})
    assert refusal["details"] == {"extension": "concatenation", "header": "Upload-Concat"}
    assert refusal["hint"] == (
        "Leave out Upload-Concat. The extensions here: creation, creation-with-upload, creation-defer-length, "
        "termination, expiration, checksum."
    )
