from __future__ import annotations

from datetime import UTC, datetime

from drive_server.models.items import Item
from drive_server.services.journal.service import decode_result, encode_result

MADE, CHANGED = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)
ITEM = Item(
    id="1",
    kind="file",
    name="a.txt",
    path="/a.txt",
    parent_id=None,
    owner="ana@example.com",
    role="owner",
    etag="1-1",
    size=1,
    media_type="text/plain",
    version=1,
    created_at=MADE,
    updated_at=CHANGED,
    modified_at=MADE,
    trashed_at=None,
    child_count=None,
    index_state=None,
    shared=False,
)


def test_a_recorded_item_keeps_its_own_date() -> None:
    assert decode_result(encode_result(ITEM)) == ITEM


def test_an_item_recorded_before_items_had_dates_has_that_of_its_change() -> None:
    recorded = encode_result(ITEM)
    del recorded["value"]["modified_at"]

    assert decode_result(recorded).modified_at == CHANGED


def test_every_field_of_an_item_is_told_as_required() -> None:
    for mode in ("validation", "serialization"):
        schema = Item.model_json_schema(mode=mode)
        assert schema["required"] == list(schema["properties"])
