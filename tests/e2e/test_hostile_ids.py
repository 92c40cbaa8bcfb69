"""Ids as nobody would send them, on every route that the OpenAPI document has: 404 or 422, and never anything else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Person
    from tests.e2e.service import Service

CONTROLS = {
    "an id with NUL": "5f0c0000000040008000000000000000%00",
    "carriage return": "%0d%0aSet-Cookie:%20a=b",
}
HOSTILE = CONTROLS | {
    "lone surrogate": "%ed%a0%80",
    "no UTF-8": "%ff%fe",
    "ten thousand letters": "x" * 10_000,
    "emoji": quote("👩‍🚀"),
}
ALLOWED = {404, 422}
TUS = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
METHODS = ("get", "put", "post", "patch", "delete")
IDS = re.compile(r"(_id|_ref|^thread|^run|^item|^folder|cursor|^reference|^token)$")
Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def owner(service: Service) -> Iterator[Person]:
    person = service.owner()
    yield person
    person.close()


@pytest.fixture(scope="module")
def document(owner: Person) -> dict[str, Any]:
    return owner.get("/openapi.json")


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                yield method, path, methods[method]


def example(document: dict[str, Any], schema: dict[str, Any], name: str = "") -> Any:
    """Return a value that fits the schema, with nothing that it does not need."""
    if "$ref" in schema:
        return example(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], name)
    if options := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return options[0]
    for combined in ("anyOf", "oneOf", "allOf"):
        if combined in schema:
            return example(document, schema[combined][0], name)
    if schema.get("type") == "object":
        return {key: example(document, schema["properties"][key], key) for key in schema.get("required", ())}
    if schema.get("type") == "array":
        return [example(document, schema["items"], name)] if schema.get("minItems") else []
    simple = {"integer": 1, "number": 1, "boolean": True, "string": "a@example.com" if "email" in name else "a"}
    return simple.get(schema.get("type", "string"), "a")


def request_of(document: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        return {"json": example(document, content["application/json"]["schema"])}
    return {"content": b"a"} if content else {}


def parameters(operation: dict[str, Any], where: str) -> list[dict[str, Any]]:
    return [parameter for parameter in operation.get("parameters", ()) if parameter["in"] == where]


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_no_id_in_a_path_is_an_error_of_the_service(owner: Person, document: dict[str, Any], hostile: str) -> None:
    asked = 0
    for method, path, operation in operations(document):
        if parameters(operation, "path"):
            query = {one["name"]: "a" for one in parameters(operation, "query") if one.get("required")}
            address = re.sub(r"\{[^}]*\}", lambda _: hostile, path)
            answer = owner.http.request(
                method,
                address,
                params=query,
                headers=TUS if "uploads" in path else {},
                **request_of(document, operation),
            )
            assert answer.status_code in ALLOWED, (method, path, answer.status_code, answer.text[:300])
            asked += 1
    assert asked > 30


@pytest.mark.parametrize("control", ["%00", "a%0ab", "%1b[2J", "%7f", "%c2%85"])
def test_no_control_character_in_an_address_is_an_error_of_the_service(owner: Person, control: str) -> None:
    """One place looks for all of them; the tests of all routes have two."""
    assert owner.http.get(f"/api/drive/items/{control}").status_code in ALLOWED
    assert owner.http.get(f"/api/drive/items?folder_id={control}").status_code in ALLOWED


@pytest.mark.parametrize("hostile", ["\x00", "\ud800", "x" * 10_000, "👩‍🚀"])
def test_no_id_in_a_message_is_an_error_of_the_service(owner: Person, hostile: str) -> None:
    for ids in ({"thread_id": hostile}, {"context": {"file_id": hostile}}, {"context": {"folder_id": hostile}}):
        body = json.dumps({"message": "hello", **ids})
        answer = owner.http.post("/api/chat", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in ALLOWED, (ids, answer.text[:300])


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_no_id_in_a_query_is_an_error_of_the_service(owner: Person, document: dict[str, Any], hostile: str) -> None:
    root = owner.root()["id"]
    asked = 0
    for method, path, operation in operations(document):
        queries = parameters(operation, "query")
        for wanted in queries:
            if IDS.search(wanted["name"]):
                address = re.sub(r"\{[^}]*\}", root, path)
                others = {one["name"]: "a" for one in queries if one.get("required") and one is not wanted}
                query = "&".join([f"{wanted['name']}={hostile}", *(f"{key}={value}" for key, value in others.items())])
                request = request_of(document, operation)
                answer = owner.http.request(method, f"{address}?{query}", **request)
                if hostile not in CONTROLS.values() and answer.status_code == 200:
                    assert not any(answer.json().values()), (method, path, query[:80], answer.text[:300])
                else:
                    assert answer.status_code in ALLOWED, (method, path, query[:80], answer.text[:300])
                asked += 1
    assert asked > 10
