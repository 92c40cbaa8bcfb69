"""The words of answers that a run showed, by message: those of one that did not become whole are kept in the thread."""

from collections.abc import Collection, Iterator

from langchain_core.messages import AIMessage

from api.events.frames import Event
from graph.messages.incomplete import Ending, incomplete_answer


class ShownWords:
    """Takes the events of a run."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def take(self, event: Event) -> None:
        """Note the text of an event, if it is one of an answer."""
        if event["type"] != "content":
            return
        key = str(event.get("message_id") or "")
        before = "" if event.get("restarts") else self._texts.get(key, "")
        self._texts[key] = before + event["text"]

    def incomplete(self, stored: Collection[str], ending: Ending) -> Iterator[AIMessage]:
        """Yield the answers that were shown and are not among the `stored` messages, by their ids."""
        for key, text in self._texts.items():
            if key and key not in stored and text.strip():
                yield incomplete_answer(key, text.strip(), ending)
