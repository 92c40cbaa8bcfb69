"""The text of an answer, whatever the pieces that it comes in: thoughts and calls in it are told apart from it."""

from __future__ import annotations

from typing import Any

import pytest

from graph.models.answer_text import AnswerText, Expected

TOOLS = frozenset({"list_folder", "read_file"})
CALL = '{"name": "list_folder", "arguments": {"folder_id": "root"}}'
ROOT = [("list_folder", {"folder_id": "root"})]
SIZES = (1, 2, 3, 7, 1000)


def read(text: str, size: int, *, is_whole: bool = True, **known: Any) -> tuple[AnswerText, str, str]:
    """Return the answer, and what a person sees of its text and its thoughts in the end."""
    answer = AnswerText(Expected(TOOLS, **known))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    parts = [part for piece in pieces for part in answer.feed(piece)] + answer.end(is_whole=is_whole)
    shown = thought = ""
    for kind, said in parts:
        shown = "" if kind == "withdrawn" else shown + said * (kind == "text")
        thought += said * (kind == "thought")
    return answer, shown, thought


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("thinks", [False, True])
@pytest.mark.parametrize(
    ("text", "thoughts", "rest"),
    [
        ("secret plan here\n</think>\n\nThe answer is 5.", "secret plan here\n", "The answer is 5."),
        ("secret plan here</think>The answer is 5.", "secret plan here", "The answer is 5."),
        ("plan </think> The answer is 5.", "plan ", "The answer is 5."),
        ("用户想知道总数。</think>答案是5。", "用户想知道总数。", "答案是5。"),
        ("plan</think>", "plan", ""),
        ("plan\n</think>\n\nIn code: `</think>`.", "plan\n", "In code: `</think>`."),
        ("use `</think>`\n</think>\n\nYes.", "use `</think>`\n", "Yes."),
    ],
)
def test_thoughts_end_at_the_first_tag_that_is_none_of_the_text(
    text: str, thoughts: str, rest: str, size: int, *, thinks: bool
) -> None:
    answer, shown, thought = read(text, size, thinks=thinks)
    assert (answer.text, answer.thoughts) == (rest, thoughts)
    assert (shown, thought) == (rest, thoughts)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("thinks", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "The tag `</think>` ends it.",
        "The </think> tag ends the thoughts.",
        "Use:\n```\n</think>\n```\nDone.",
        "“</think>”表示思考结束。",
        "They are <think> and </think>.",
        "a < b, [c] and `d`",
        "[1] is a note",
        "Nothing of the kind",
        "Qwen writes `<tool_call>` before it.",
        "Use the <tool_call> tag.",
        "Here is a [TOOL_CALLS] token.",
        f"It writes:\n```\n<tool_call>\n{CALL}\n</tool_call>\n```\nThat is all.",
        f"```json\n{CALL}\n```\nThis is how it looks.",
        '```json\n{"a": 1}\n```',
        '{"name": "Bob", "age": 5}',
        '{{"name": "Bob", "age": 5}}',
        "Use `{{name}}` in the template.",
        "```python\nprint(1)\n```",
    ],
)
def test_an_answer_that_speaks_of_such_things_stays_as_it_is(text: str, size: int, *, thinks: bool) -> None:
    answer, shown, _ = read(text, size, thinks=thinks)
    assert (answer.text, shown, answer.calls, answer.lost_call) == (text, text, [], False)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("text", "said", "made"),
    [
        (f"<tool_call>\n{CALL}\n</tool_call>", "", ROOT),
        (f"I look.\n<tool_call>{CALL}</tool_call>", "I look.", ROOT),
        (f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>", "", ROOT * 2),
        (f"```json\n{CALL}\n```", "", ROOT),
        (f"{{{CALL}}}", "", ROOT),
        (f"<tool_call>\n{{{CALL}}}\n</tool_call>", "", ROOT),
        (f"```json\n{{{CALL}}}\n```", "", ROOT),
        (f"I look.\n{{ {CALL[1:]}", "I look.", ROOT),
        ('{"name": "list_folder", "parameters": {"folder_id": "root"}}', "", ROOT),
        ('{"type": "function", "function": {"name": "list_folder", "arguments": "{}"}}', "", [("list_folder", {})]),
        ("<function=list_folder>\n<parameter=folder_id>\nroot\n</parameter>\n</function>", "", ROOT),
        (
            "<tool_call>\n<function=list_folder>\n<parameter=folder_id>\nroot\n</parameter>\n</function>\n</tool_call>",
            "",
            ROOT,
        ),
        ('<function=list_folder>{"folder_id": "root"}</function>', "", ROOT),
        (f"[TOOL_CALLS][{CALL}]", "", ROOT),
        ('[TOOL_CALLS]list_folder[ARGS]{"folder_id": "root"}', "", ROOT),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list_folder<｜tool▁sep｜>"
            '{"folder_id": "root"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
            "",
            ROOT,
        ),
        (f"I think.\n</think>\n\n<tool_call>{CALL.replace('list', 'functions.list')}</tool_call>", "", ROOT),
    ],
)
def test_calls_in_the_text_are_read_and_never_shown(
    text: str, said: str, made: list[tuple[str, dict[str, Any]]], size: int
) -> None:
    answer, shown, _ = read(text, size)
    assert [(call["name"], call["args"]) for call in answer.calls] == made
    assert (answer.text, shown.strip(), answer.lost_call) == (said, said, False)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "nothing", "arguments": {}}\n</tool_call>',
        '<tool_call>\n{"name": "list_folder", "arg',
        '<tool_call>\n{"name": "list_folder", "arguments": [1]}\n</tool_call>',
        "<tool_call>",
        "<function=list_folder>\n<parameter=folder",
    ],
)
def test_a_call_in_the_text_that_can_not_be_made_is_lost_and_never_shown(text: str, size: int) -> None:
    answer, shown, _ = read(text, size)
    assert (answer.text, shown, answer.calls, answer.lost_call) == ("", "", [], True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{CALL} {CALL}\n{CALL}", ""),
        (f'{CALL} {CALL}\n{{"name": "list_folder", "argum', ""),
        (f"{CALL}\nI look at the folder.", "I look at the folder."),
        (f"{CALL}\n```", ""),
    ],
)
def test_json_of_a_call_that_a_model_repeats_or_goes_on_behind_is_one_call(text: str, said: str, size: int) -> None:
    answer, shown, _ = read(text, size)
    assert [(call["name"], call["args"]) for call in answer.calls] == ROOT
    assert (answer.text, shown.strip(), answer.lost_call) == (said, said, False)


@pytest.mark.parametrize("size", SIZES)
def test_json_of_a_call_of_no_tool_is_never_shown_with_words_behind_it(size: int) -> None:
    answer, shown, _ = read('{"name": "make_directory", "arguments": {"path": "/x"}}\nI made it.', size)
    assert (answer.text, shown, answer.calls, answer.lost_call) == ("", "", [], True)


def test_an_answer_that_broke_off_makes_no_call_and_keeps_thoughts_apart() -> None:
    answer, shown, _ = read(f"I look. <tool_call>{CALL}</tool_call>", 4, is_whole=False)
    assert (answer.calls, answer.lost_call, shown.strip()) == ([], False, "I look.")
    _, shown, thought = read("secret plan", 4, is_whole=False, thinks=True)
    assert (shown, thought) == ("", "secret plan")


@pytest.mark.parametrize("text", [f"So:\n<tool_call>{CALL}</tool_call>", "x</think>y", "The end: </think>"])
def test_in_a_conversation_about_such_markup_it_stays(text: str) -> None:
    answer, shown, _ = read(text, 3, is_topic=True)
    assert (answer.text, shown, answer.calls) == (text, text, [])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('I list it:\n```json\n{"name": "list_folder", "arguments": {"folder_id": "root"}}\n```', "I list it:"),
        ('好的。\n\n{"name":"list_folder","arguments":{"folder_id":"root"}}', "好的。"),
        ('<tools>\n{"name":"list_folder","arguments":{"folder_id":"root"}}\n</tools>', ""),
        ('<|python_tag|>{"name":"list_folder","parameters":{"folder_id":"root"}}', ""),
        ('<functioncall> {"name":"list_folder","arguments":"{\\"folder_id\\": \\"root\\"}"}', ""),
    ],
)
def test_a_call_behind_words_is_made_and_never_shown(text: str, said: str, size: int) -> None:
    answer, shown = fed(text, size)
    assert [(call["name"], call["args"]) for call in answer.calls] == [("list_folder", {"folder_id": "root"})]
    assert answer.text == said
    assert "{" not in shown
    assert shown.strip() == said


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    ['{"name":"list_folder","arguments":{"folder_id":"ro', '{"name":"make_directory","arguments":{"path":"/x"}}'],
)
def test_a_call_that_cannot_be_made_is_lost_and_never_shown(text: str, size: int) -> None:
    answer, shown = fed(text, size)
    assert (answer.calls, answer.lost_call, shown) == ([], True, "")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    ['{"name": "Bob", "age": 3}', 'The row:\n```json\n{"name": "Bob", "type": "cat"}\n```\nThat is all.', "{ so }"],
)
def test_other_json_is_shown(text: str, size: int) -> None:
    answer, shown = fed(text, size)
    assert (answer.calls, answer.lost_call, shown) == ([], False, text)


def fed(text: str, size: int) -> tuple[AnswerText, str]:
    answer = AnswerText(Expected(frozenset({"list_folder"})))
    parts = [part for at in range(0, len(text), size) for part in answer.feed(text[at : at + size])]
    return answer, "".join(part.text for part in (*parts, *answer.end()))


ARGS = '{"folder_id": "root"}'


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    [
        'list_folder(folder_id="root")',
        f"list_folder({ARGS})",
        f"list_folder {ARGS}",
        f"list_folder\n{ARGS}",
        '[list_folder(folder_id="root")]',
        '```python\nlist_folder(folder_id="root")\n```',
        '```tool_code\nprint(default_api.list_folder(folder_id="root"))\n```',
        f"```\nlist_folder {ARGS}\n```",
        f"```tool_call\n{CALL}\n```",
        f"Function call: list_folder({ARGS})",
        f"Action: list_folder\nAction Input: {ARGS}",
        f"Tool: list_folder\nArguments: {ARGS}",
        '<|python_tag|>list_folder.call(folder_id="root")',
        '<|tool_call_start|>[list_folder(folder_id="root")]<|tool_call_end|>',
        "{'name': 'list_folder', 'arguments': {'folder_id': 'root'}}",
        '{"name": "list_folder", "arguments": {"folder_id": "root",}}',
        '{"name": "list_folder", "arguments": {"folder_id": "root"}',
        f"<tool_call>\n{CALL[:-1]}\n</tool_call>",
        f"<tool_call>\n{CALL}",
        f"<tool_call>[{CALL}]</tool_call>",
        '{"name": "list_folder", // the top\n "arguments": {"folder_id": "root"}}',
        f'{{"action": "list_folder", "action_input": {ARGS}}}',
        f'{{"list_folder": {ARGS}}}',
        '{"name": "list_folder", "folder_id": "root"}',
        f'{{"tool_calls": [{CALL}]}}',
        f'{{"function_call": {CALL}}}',
        f"<function=list_folder>{ARGS}",
        '<function_calls>\n<invoke name="list_folder">\n<parameter name="folder_id">root</parameter>\n</invoke>\n'
        "</function_calls>",
        '<minimax:tool_call>\n<invoke name="list_folder">\n<parameter name="folder_id">root</parameter>\n</invoke>\n'
        "</minimax:tool_call>",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="list_folder">\n'
        '<｜DSML｜parameter name="folder_id" string="true">'
        "root</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        "<list_folder>\n<folder_id>root</folder_id>\n</list_folder>",
        f"<tool_use>\n<name>list_folder</name>\n<arguments>{ARGS}</arguments>\n</tool_use>",
        f"<tool_call>\n<name>list_folder</name>\n<arguments>{ARGS}</arguments>\n</tool_call>",
        "<tool_call>list_folder\n<arg_key>folder_id</arg_key>\n<arg_value>root</arg_value>\n</tool_call>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.list_folder:0<|tool_call_argument_begin|>"
        f"{ARGS}<|tool_call_end|><|tool_calls_section_end|>",
        "<start_function_call>call:list_folder{folder_id:<escape>root<escape>}<end_function_call>",
        '<|tool_call>call:list_folder{folder_id:<|"|>root<|"|>}<tool_call|>',
        f"<|channel|>commentary to=functions.list_folder <|constrain|>json<|message|>{ARGS}<|call|>",
        f"✿FUNCTION✿: list_folder\n✿ARGS✿: {ARGS}",
        f'Action: ```json\n[{{"tool_name": "list_folder", "parameters": {ARGS}}}]\n```',
    ],
)
def test_every_form_in_which_models_write_a_call_is_read(text: str, size: int) -> None:
    answer, shown, _ = read(text, size)
    assert [(call["name"], call["args"]) for call in answer.calls] == ROOT
    assert "folder_id" not in shown
    assert "folder_id" not in answer.text


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    [
        "list_folder",
        "list_folder lists a folder, read_file reads one.",
        "Tool: a hammer. Action: hit it.",
        "Call: I will tell you (list_folder is a tool).",
        "Action items:\n- read the lease\n- call Ann",
        "Function: f(x) = 2x",
        '```python\nprint("hello")\n```',
        "<ul>\n<li>a</li>\n</ul>",
        "{'name': 'Bob', 'age': 3}",
        '{"listing": {"a": 1}}',
        'Write it so:\n```python\nlist_folder(folder_id="root")\n```\nThat is how one calls it.',
        "print(1)",
        "list_folder(root) lists what is in the top folder.",
    ],
)
def test_what_only_looks_like_a_call_is_shown(text: str, size: int) -> None:
    answer, shown, _ = read(text, size)
    assert (answer.text, shown, answer.calls) == (text, text, [])


@pytest.mark.parametrize("size", SIZES)
def test_two_calls_in_pythons_syntax_are_two(size: int) -> None:
    answer, shown, _ = read('[list_folder(folder_id="root"), read_file(file_id="/a.md", whole=true)]', size)
    assert [(call["name"], call["args"]) for call in answer.calls] == [
        *ROOT,
        ("read_file", {"file_id": "/a.md", "whole": True}),
    ]
    assert shown == ""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text", ['list_folder(folder_id="ro', 'Action: list_folder\nAction Input: {"folder_id": "ro', "list_folder(root)"]
)
def test_half_a_call_is_lost_and_never_shown(text: str, size: int) -> None:
    answer, shown, _ = read(text, size)
    assert (answer.text, shown, answer.calls, answer.lost_call) == ("", "", [], True)
