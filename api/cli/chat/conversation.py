"""A conversation with the assistant in a terminal: turns, approvals, and Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from api.cli.chat.approvals import ask_about
from api.cli.chat.attaching import attachments_in
from api.cli.chat.event_stream import EventStream
from api.cli.chat.transcript import JsonTranscript, Transcript
from api.cli.client import Reconnection
from api.cli.failure import ServiceError
from api.cli.terminal import visible_line
from api.cli.texts import text, word
from drive_server.kernel.moments import server_zone
from graph.language import language_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.cli.chat.event_stream import Event
    from api.cli.client import ServiceClient
    from api.cli.terminal import Terminal
    from graph.language import Language

SUCCESS = "success"
PARKED = "run_parked"
STILL_WAITING = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY})


@dataclass(frozen=True, slots=True)
class TerminalPlace:
    """The person's place: ids of the open file and the current folder."""

    file_id: str | None = None
    folder_id: str | None = None

    def as_context(self) -> dict[str, str]:
        """Return the place as the API takes it."""
        both = {"file_id": self.file_id, "folder_id": self.folder_id}
        return {name: value for name, value in both.items() if value}


class Conversation:
    """A thread of the assistant in a terminal.

    `last_run` is the newest run that changed something; `unanswered`: an approval was rejected only because standard
    input had ended.
    """

    def __init__(
        self,
        client: ServiceClient,
        terminal: Terminal,
        *,
        thread_id: str,
        place: TerminalPlace,
        yes_to: str | None,
        json: bool,
        unattended: bool = False,
        model: str | None = None,
        assistant_id: str | None = None,
    ) -> None:
        self._client = client
        self._reconnection = Reconnection(client)
        self._terminal = terminal
        self._json = json
        self._place = place
        self._yes_to = yes_to
        self._unattended = unattended
        self._time_zone = server_zone()
        self._model = model
        self._assistant_id = assistant_id
        self._language: Language = "en"
        self.thread_id = thread_id
        self.last_run = ""
        self.unanswered = False

    def say(self, message: str, *, attach: bool = True) -> bool:
        """Send a message and show the turn to its end. Return whether it succeeded.

        `attach`: items that the message names as `@/path` go with it.
        """
        self._language = language_of(message, self._language)
        body: dict[str, Any] = {"message": message}
        if self._time_zone:
            body["time_zone"] = self._time_zone
        if attach and (attached := attachments_in(self._client, message)):
            body["attachments"] = attached
        if self.thread_id:
            body["thread_id"] = self.thread_id
        if context := self._place.as_context():
            body["context"] = context
        if self._unattended:
            body["mode"] = "unattended"
        if self._model:
            body["model"] = self._model
        if self._assistant_id:
            body["assistant_id"] = self._assistant_id
        stream = EventStream(self._client, self._reconnection)
        return self._show(stream, stream.start(body))

    def answer_waiting(self) -> bool:
        """Ask about the approvals that this conversation waits for. Return whether the run succeeded."""
        waiting = [entry for entry in self._client.pages("/api/approvals") if entry.get("thread_id") == self.thread_id]
        if not waiting:
            return True
        stream = EventStream(self._client, self._reconnection)
        ids = {str(entry["approval_id"]) for entry in waiting}
        return self._show(stream, stream.join(str(waiting[0]["run_id"])), ask_from=ids)

    def _show(self, stream: EventStream, events: Iterator[Event], ask_from: set[str] | None = None) -> bool:
        try:
            last = self._follow(stream, events, ask_from)
        except KeyboardInterrupt:
            last = self._cancel(stream)
        self.thread_id = stream.thread_id or self.thread_id
        return self._conclude(stream.run_id, last)

    def _follow(self, stream: EventStream, events: Iterator[Event], ask_from: set[str] | None = None) -> Event:
        """Show the events, and ask about approvals: all, or those from the first of `ask_from` on."""
        transcript = JsonTranscript() if self._json else Transcript(self._terminal, self._language)
        event: Event = {}
        for event in events:
            transcript.show(event)
            if self._unattended and event["type"] == PARKED:
                break
            if self._unattended or event["type"] != "approval_needed":
                continue
            if ask_from is None or event["approval_id"] in ask_from:
                ask_from = None
                self._decide(event)
        self.thread_id = stream.thread_id or self.thread_id
        return event

    def _decide(self, approval: Event) -> None:
        path = f"/api/approvals/{approval['approval_id']}"
        while True:
            answers = ask_about(approval, self._terminal, self._yes_to)
            self.unanswered = self.unanswered or answers.unanswered
            try:
                self._reconnection.post(path, {"decisions": answers.decisions})
            except ServiceError as error:
                if error.status == HTTPStatus.CONFLICT:
                    self._terminal.say(error.message, "yellow")
                elif error.status in STILL_WAITING and not answers.unanswered:
                    self._terminal.say(f"{error.message} {error.hint}".strip(), "red")
                    continue
                else:
                    raise
            return

    def _cancel(self, stream: EventStream) -> Event:
        """Stop the run; its changes stay, and are in its last event."""
        if not stream.run_id:
            raise KeyboardInterrupt
        self._terminal.say(text("stopping"), "yellow")
        try:
            self._client.post(f"/api/runs/{stream.run_id}/cancel")
        except ServiceError as error:
            if error.status not in {HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND}:
                raise
        return self._follow(stream, stream.resume(), ask_from=set())

    def _conclude(self, run_id: str, last: Event) -> bool:
        if last.get("changes"):
            self.last_run = run_id
            for group in last.get("groups", ()):
                self._terminal.note(visible_line(str(group["text"])))
            self._terminal.note(text("turn_undo", command=f"drive-agent undo {run_id}"))
        if last.get("type") == PARKED:
            self._terminal.note(text("turn_waits", time=last.get("expires_at")), "yellow")
            self._terminal.note(text("turn_asks", command=f"drive-agent chat --thread {self.thread_id}"))
            return True
        if last.get("type") == "error":
            again = text("turn_again") if last.get("retryable") else ""
            self._terminal.note(f"drive-agent: {last.get('message') or last.get('code')}{again}", "red")
            return False
        if last.get("status") != SUCCESS:
            ended = text("turn_ended", status=word("run", str(last.get("status"))))
            self._terminal.note(f"drive-agent: {ended}", "red")
            return False
        return True
