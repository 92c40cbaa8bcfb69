"""Odd and hostile requests, requests at once, and clients that go away."""

from __future__ import annotations

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import openai
import pytest

from tests.api.command_model import command
from tests.api.openai.asking import (
    MODEL,
    ask,
    assistant,
    decide_all,
    messages_of,
    orders_of,
    system,
    threads_of,
    trash,
    user,
    waiting,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.person import Person

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.parametrize("said", ["你好，请列出文件", "👩‍👩‍👧 🦑", "a\u2028b\u0085c", "x" * 100_000, "\ud83d\ude00"])
def test_whatever_a_person_writes_is_answered(client: Any, said: str) -> None:
    said = said.encode("utf-16", "surrogatepass").decode("utf-16")
    assert ask(client, user(said))


@pytest.mark.parametrize("said", ["", " \n", "a\x00b", "x" * 100_001])
def test_what_is_no_message_is_refused(client: Any, said: str) -> None:
    with pytest.raises(openai.BadRequestError):
        ask(client, user(said))


def test_instructions_count_for_one_turn_and_are_bounded(owner: Person, client: Any) -> None:
    first = ask(client, system("Answer like a pirate."), user("one nut"))
    ask(client, user("one nut"), assistant(first), user("two nuts"))
    newest, before = (run["run_id"] for run in owner.get("/api/runs")["items"][:2])
    assert "pirate" in str(owner.get(f"/api/runs/{before}/context"))
    assert "pirate" not in str(owner.get(f"/api/runs/{newest}/context"))
    with pytest.raises(openai.BadRequestError):
        ask(client, system("x" * 33_000), user("three nuts"))


def test_a_hundred_messages_find_their_thread(owner: Person, client: Any) -> None:
    history: list[Any] = []
    for number in range(50):
        history += [user(f"number {number}"), assistant(f"noted {number}")]
    first = ask(client, *history, user("one bean"))
    before = len(threads_of(owner))
    ask(client, *history, user("one bean"), assistant(first), user("two beans"))
    assert len(threads_of(owner)) == before
    assert orders_of(owner)[-2:] == ["one bean", "two beans"]


def test_the_same_history_sent_twice_at_once_is_carried_out_once(owner: Person, client: Any) -> None:
    first = ask(client, user("one olive"))
    order = command("create_folder", name="Once only", folder_id="root")

    def send(_: int) -> str:
        return ask(client, user("one olive"), assistant(first), user(order))

    with ThreadPoolExecutor(2) as pool:
        answers = [*pool.map(send, range(2))]
    view = owner.get(f"/api/threads/{threads_of(owner)[0]['thread_id']}")
    runs = owner.get("/api/runs", thread_id=view["thread_id"])["items"]
    # The second one came while the first was at work, or after it: then it is another version of the answer.
    assert len(runs) in {2, 3}
    assert all(answers)
    assert owner.names().count("Once only") == 1


def test_two_clients_of_one_thread_take_turns(owner: Person, client: Any) -> None:
    first = client.responses.create(model=MODEL, input="one rice")
    thread: Any = first.conversation

    def send(said: str) -> str:
        return client.responses.create(model=MODEL, input=said, conversation=thread.id).status

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(send, "ab")] == ["completed"] * 2
    assert sorted(orders_of(owner)[1:]) == ["a", "b"]


def test_an_answer_that_was_lost_on_the_way_is_not_made_again(owner: Person, client: Any) -> None:
    order = user(command("create_folder", name="Retried", folder_id="root"))
    first = ask(client, order)
    again = ask(client, order, extra_headers={"x-stainless-retry-count": "1"})
    assert again == first
    assert owner.names().count("Retried") == 1
    before = len(threads_of(owner))
    ask(client, order)
    assert len(threads_of(owner)) == before + 1


def test_a_client_that_goes_away_stops_nothing(owner: Person, client: Any) -> None:
    order = trash(owner, "abandoned.txt")
    stream = client.chat.completions.create(model=MODEL, messages=[user(order)], stream=True)
    next(iter(stream))
    stream.close()
    _until(lambda: bool(waiting(owner)))
    decide_all(owner)
    _until(lambda: "abandoned.txt" not in owner.names())
    _until(lambda: owner.get("/api/runs")["items"][0]["status"] == "success")


def _until(holds: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(500):
        if holds():
            return
        pause.wait(0.02)
    raise AssertionError


def test_a_picture_comes_as_data_and_becomes_an_attachment_once(owner: Person, client: Any) -> None:
    parts = [
        {"type": "text", "text": "look at this"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    ]
    ask(client, user(parts))
    ask(client, user([{"type": "text", "text": "and again"}, parts[1]]))
    folder = next(item for item in owner.children() if item["name"] == "Chat attachments")
    (kept,) = owner.children(folder["id"])
    assert kept["media_type"] == "image/png"
    run_id = owner.get("/api/runs")["items"][0]["run_id"]
    assert kept["name"] in str(owner.get(f"/api/runs/{run_id}/context"))


def test_a_file_comes_as_data_or_by_its_id_in_the_drive(owner: Person, client: Any) -> None:
    data = base64.b64encode(b"The code is 4711.").decode()
    file = {"type": "file", "file": {"filename": "../note.txt", "file_data": f"data:text/plain;base64,{data}"}}
    ask(client, user([{"type": "text", "text": "read it"}, file]))
    run_id = owner.get("/api/runs")["items"][0]["run_id"]
    assert "The code is 4711." in str(owner.get(f"/api/runs/{run_id}/context"))
    mine = owner.upload("kept.txt", "The number is 0815.")
    part = {"type": "input_file", "file_id": mine["id"]}
    client.responses.create(model=MODEL, input=[user([{"type": "input_text", "text": "read that"}, part])])
    run_id = owner.get("/api/runs")["items"][0]["run_id"]
    assert "The number is 0815." in str(owner.get(f"/api/runs/{run_id}/context"))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/x.png"}},
        {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,###"}},
        {"type": "input_image", "image_url": "https://example.com/x.png"},
        {"type": "input_file", "file_url": "https://example.com/x.pdf"},
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
    ],
)
def test_nothing_is_fetched_from_an_address(owner: Person, client: Any, part: Any) -> None:
    before = threads_of(owner)
    with pytest.raises(openai.BadRequestError):
        ask(client, user([{"type": "text", "text": "look"}, part]))
    assert threads_of(owner) == before


def test_a_file_of_another_person_is_not_there(owner: Person, client_of: Callable[[Person], Any]) -> None:
    mine = owner.upload("secret.txt", "secret")
    stranger = owner.add_new("trudy")
    part = {"type": "input_file", "file_id": mine["id"]}
    with pytest.raises(openai.NotFoundError):
        client_of(stranger).responses.create(model=MODEL, input=[user([{"type": "input_text", "text": "x"}, part])])
    stranger.close()


def test_a_reading_key_sends_no_files(owner: Person, client_of: Callable[[Person], Any]) -> None:
    reader = owner.with_key("reads pictures", "read")
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    with pytest.raises(openai.PermissionDeniedError):
        ask(client_of(reader), user([{"type": "text", "text": "look"}, part]))
    reader.close()


def test_a_thread_is_found_by_the_key_that_began_it(owner: Person, client_of: Callable[[Person], Any]) -> None:
    one, two = owner.with_key("first chat", "read", "write"), owner.with_key("second chat", "read", "write")
    said = ask(client_of(one), user("one fern"))
    ask(client_of(two), user("one fern"), assistant(said), user("two ferns"))
    newest, *others = threads_of(owner)
    assert orders_of(owner) == ["one fern", "two ferns"]
    assert any(messages_of(owner, other["thread_id"])[0] == ("user", "one fern") for other in others[:1])
    assert newest["thread_id"] != others[0]["thread_id"]
    one.close()
    two.close()


def test_what_was_done_on_the_page_meanwhile_stays(owner: Person, client: Any) -> None:
    first = ask(client, user("one moss"))
    with owner.chat("from the page", thread_id=threads_of(owner)[0]["thread_id"]) as turn:
        turn.finish()
    ask(client, user("one moss"), assistant(first), user("two mosses"))
    assert orders_of(owner) == ["one moss", "from the page", "two mosses"]


def test_a_key_that_is_revoked_ends_at_once(owner: Person, client_of: Callable[[Person], Any]) -> None:
    made = owner.with_key("for a moment", "read")
    client = client_of(made)
    assert ask(client, user("hello"))
    for key in owner.get("/api/auth/keys")["items"]:
        if key["name"] == "for a moment":
            owner.http.delete(f"/api/auth/keys/{key['id']}")
    with pytest.raises(openai.AuthenticationError):
        ask(client, user("hello"))
    made.close()
