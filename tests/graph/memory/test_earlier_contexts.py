"""What stood before the words of earlier turns is sent again as it was, so that services serve it from their caches."""

from tests.fakes.chat_model import ScriptedChatModel, prompt_of, words_of
from tests.graph.memory.test_view import Build


async def test_a_request_begins_as_the_last_one_of_the_turn_before_did(
    build_with_store: Build, model: ScriptedChatModel
) -> None:
    assistant = build_with_store()
    for number in range(3):
        model.script = [f"Answer {number}."]
        await assistant.say(f"search my files for the contract ({number})")
    first, second, third = ([message.text for message in request] for request in model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert "<moment>" in third[1]
    assert [words_of(message) for message in model.requests[2] if message.type == "human"] == [
        f"search my files for the contract ({number})" for number in range(3)
    ]


async def test_the_system_message_is_the_same_for_a_whole_conversation(
    build_with_store: Build, model: ScriptedChatModel
) -> None:
    assistant = build_with_store()
    for words in ("search my files for the contract", "search my files for the rent, and be quick"):
        model.script = ["Done."]
        await assistant.say(words)
    (system,) = {request[0].text for request in model.requests}
    assert not any(tag in system for tag in ("<moment>\n", "<language>\n", "<place>\n", "<listing>\n"))
    assert "<moment>\n" in prompt_of(model.requests[-1])
