"""Responses, asked with OpenAI's own client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import pytest

from tests.api.command_model import command
from tests.api.openai.asking import MODEL, orders_of, threads_of, user

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.person import Person

STREAMED = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
    "response.output_item.done",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
]


def test_a_response_comes_whole_and_can_be_read_again(client: Any) -> None:
    made = client.responses.create(model=MODEL, input="hello there")
    assert made.output_text == "You said hello there"
    assert made.status == "completed"
    again = client.responses.retrieve(made.id)
    assert again.output == made.output
    assert again.model == MODEL
    assert again.usage == made.usage


def test_a_stream_has_the_official_events_in_their_order(client: Any) -> None:
    with client.responses.stream(model=MODEL, input=command("list_folder", folder_id="root")) as stream:
        events = [*stream]
        final = stream.get_final_response()
    kinds: list[str] = []
    for event in events:
        if not kinds or kinds[-1] != event.type:
            kinds.append(event.type)
    assert kinds == STREAMED
    numbers = [event.sequence_number for event in events]
    assert numbers == sorted(set(numbers))
    assert final.output_text.startswith("Done:")
    assert [item.id for item in final.output] == [item.id for item in client.responses.retrieve(final.id).output]
    assert client.responses.retrieve(final.id).output_text == final.output_text


def test_a_response_goes_on_from_the_one_before(owner: Person, client: Any) -> None:
    first = client.responses.create(model=MODEL, input="one fig")
    second = client.responses.create(model=MODEL, input="two figs", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    assert orders_of(owner) == ["one fig", "two figs"]
    client.responses.create(model=MODEL, input="three figs", previous_response_id=first.id)
    assert orders_of(owner) == ["one fig", "three figs"]


def test_a_response_goes_on_from_a_branch_that_was_left(owner: Person, client: Any) -> None:
    first = client.responses.create(model=MODEL, input="one date")
    left = client.responses.create(model=MODEL, input="two dates", previous_response_id=first.id)
    client.responses.create(model=MODEL, input="three dates", previous_response_id=first.id)
    client.responses.create(model=MODEL, input="four dates", previous_response_id=left.id)
    assert orders_of(owner) == ["one date", "two dates", "four dates"]


def test_a_response_goes_on_in_a_conversation(owner: Person, client: Any) -> None:
    first = client.responses.create(model=MODEL, input="one kiwi")
    assert first.conversation
    client.responses.create(model=MODEL, input="two kiwis", conversation=first.conversation.id)
    client.responses.create(model=MODEL, input="three kiwis", conversation={"id": first.conversation.id})
    assert orders_of(owner) == ["one kiwi", "two kiwis", "three kiwis"]


def test_instructions_and_messages_with_parts_are_read(owner: Person, client: Any) -> None:
    parts: Any = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "in"}, {"type": "input_text", "text": "parts"}]},
    ]
    made = client.responses.create(model=MODEL, instructions="Be kind.", input=parts)
    run_id = owner.get("/api/runs")["items"][0]["run_id"]
    assert made.output_text == "You said in\nparts"
    sent = owner.get(f"/api/runs/{run_id}/context")
    assert "Be kind.\\n\\nBe brief." in str(sent).replace("\n", "\\n")


def test_what_is_foreign_is_not_there_as_what_never_was(
    owner: Person, client: Any, client_of: Callable[[Person], Any]
) -> None:
    mine = client.responses.create(model=MODEL, input="private")
    assert mine.conversation
    stranger = owner.add_new("eve")
    other = client_of(stranger)
    unknown = f"resp_{'0' * 32}_0"
    attempts: list[Callable[[str, str], Any]] = [
        lambda response, _: other.responses.retrieve(response),
        lambda response, _: other.responses.create(model=MODEL, input="x", previous_response_id=response),
        lambda _, conversation: other.responses.create(model=MODEL, input="x", conversation=conversation),
    ]
    for attempt in attempts:
        with pytest.raises(openai.NotFoundError) as foreign:
            attempt(mine.id, mine.conversation.id)
        with pytest.raises(openai.NotFoundError) as never:
            attempt(unknown, f"conv_{'0' * 32}")
        assert foreign.value.body == never.value.body
    assert threads_of(stranger) == []
    stranger.close()


@pytest.mark.parametrize("response", ["resp_x", "resp_", "x" * 200, f"resp_{'g' * 32}_0", f"resp_{'0' * 32}_²"])
def test_an_id_that_is_none_is_not_found(client: Any, response: str) -> None:
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model=MODEL, input="x", previous_response_id=response)


def test_a_message_does_not_come_with_a_decision(client: Any) -> None:
    answer: Any = {"type": "mcp_approval_response", "approval_request_id": "mcpr_x_0", "approve": True}
    with pytest.raises(openai.BadRequestError):
        client.responses.create(model=MODEL, input=[answer, user("and go on")])


def test_what_is_not_shared_any_more_is_withheld(owner: Person, client_of: Callable[[Person], Any]) -> None:
    secret = owner.upload("Safe.md", "The code is 4711.")
    guest = owner.add_new("guest")
    body = {"email": guest.email, "role": "viewer"}
    assert owner.http.post(f"/api/drive/items/{secret['id']}/shares", json=body).is_success
    made = client_of(guest).responses.create(model=MODEL, input=command("read_file", file_id=secret["id"]))
    assert "4711" in made.output_text
    assert owner.http.delete(f"/api/drive/items/{secret['id']}/shares/{guest.email}").is_success
    again = client_of(guest).responses.retrieve(made.id)
    assert "4711" not in again.output_text
    assert "Withheld" in again.output_text
    guest.close()
