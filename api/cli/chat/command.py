"""`drive-agent chat`: one message, or a conversation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from api.cli.chat.conversation import Conversation, TerminalPlace
from api.cli.chat.prompts import COMMAND, chosen_prompt
from api.cli.commands.threads import newest_thread
from api.cli.commands.undo import undo_run
from api.cli.failure import CommandError, ServiceError
from api.cli.references import find
from api.cli.servers.assistants import find_assistant
from api.cli.service.connection import connected
from api.cli.terminal import Terminal
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient

PIPE = "-"
OF_OTHER_KIND = {"file": "folder_not_file", "folder": "is_no_folder"}


def chat(arguments: Namespace) -> int:
    """Talk to the assistant. Exit code 1 if a turn failed, or an approval was rejected because nobody answered."""
    terminal = Terminal(machine=arguments.json)
    message = _piped() if arguments.message == PIPE else arguments.message
    with connected(arguments, terminal) as client:
        conversation = Conversation(
            client,
            terminal,
            thread_id=(newest_thread(client) if arguments.newest else arguments.thread) or "",
            place=TerminalPlace(_find(client, arguments.file, "file"), _find(client, arguments.folder, "folder")),
            yes_to=arguments.yes_to,
            json=arguments.json,
            unattended=arguments.unattended,
            model=arguments.model,
            assistant_id=find_assistant(client, arguments.assistant)["id"] if arguments.assistant else None,
        )
        if message is None:
            return _converse(conversation, client, terminal)
        ended_well = conversation.say(message)
        terminal.note(text("chat_goes_on", command=f"drive-agent chat --thread {conversation.thread_id} ..."))
        return _exit_code(conversation, ended_well=ended_well)


def _piped() -> str:
    """Return all of standard input as the message."""
    message = sys.stdin.read().strip()
    if not message:
        raise CommandError.of("empty_input")
    return message


def _find(client: ServiceClient, ref: str | None, kind: str) -> str | None:
    if ref is None:
        return None
    item = find(client, ref)
    if item["kind"] != kind:
        raise CommandError.of(OF_OTHER_KIND[kind], ref=ref, hint=text("use_option", option=f"--{item['kind']}"))
    return item["id"]


def _converse(conversation: Conversation, client: ServiceClient, terminal: Terminal) -> int:
    ended_well = conversation.answer_waiting() if conversation.thread_id else True
    if terminal.interactive:
        terminal.note(text("chat_hello"))
    while (line := _next_line(terminal)) is not None:
        message = line.strip()
        if message.split(maxsplit=1)[:1] == [COMMAND]:
            ended_well = _prompt(conversation, message, client, terminal) and ended_well
        elif message.startswith("/"):
            _command(message, conversation, client, terminal)
        elif message:
            ended_well = _turn(conversation, message, terminal) and ended_well
    if conversation.thread_id:
        terminal.note(text("chat_goes_on", command=f"drive-agent chat --thread {conversation.thread_id}"))
    return 0 if terminal.interactive else _exit_code(conversation, ended_well=ended_well)


def _prompt(conversation: Conversation, line: str, client: ServiceClient, terminal: Terminal) -> bool:
    try:
        message = chosen_prompt(client, line, terminal)
    except (CommandError, ServiceError) as error:
        terminal.note(f"drive-agent: {error.message} {error.hint}".rstrip(), "red")
        return False
    # A server must not choose the items of the drive that go with the message.
    return message is None or _turn(conversation, message, terminal, attach=False)


def _turn(conversation: Conversation, message: str, terminal: Terminal, *, attach: bool = True) -> bool:
    """Send a message; a turn that the service refuses does not end the conversation."""
    try:
        return conversation.say(message, attach=attach)
    except ServiceError as error:
        terminal.note(f"drive-agent: {error.message} {error.hint}".rstrip(), "red")
        return False


def _next_line(terminal: Terminal) -> str | None:
    while True:
        try:
            return terminal.ask("> ")
        except KeyboardInterrupt:
            terminal.say()


def _command(line: str, conversation: Conversation, client: ServiceClient, terminal: Terminal) -> None:
    if line == "/new":
        conversation.thread_id = ""
        terminal.say(text("chat_new"))
    elif line == "/undo" and conversation.last_run:
        undo_run(client, terminal, conversation.last_run)
    elif line == "/undo":
        terminal.say(text("chat_unchanged"))
    else:
        terminal.say(text("chat_help"))


def _exit_code(conversation: Conversation, *, ended_well: bool) -> int:
    if conversation.unanswered:
        raise CommandError.of("unanswered")
    return 0 if ended_well else 1
