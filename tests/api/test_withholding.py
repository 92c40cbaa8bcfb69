from __future__ import annotations

from api.withholding import withhold_texts
from graph.messages.others import withheld_text


def test_names_in_citations_and_arguments_go_while_ids_and_the_order_of_steps_stay() -> None:
    event = {
        "type": "citations",
        "message_id": "m",
        "citations": [{"name": "Safe.md", "quote": "4711", "number": 1, "verified": True}],
        "args": {"name": "Safe.md"},
        "steps": [{"id": "2", "depends_on": ["1"], "status": "pending", "title": "Open the safe"}],
        "tool_call_ids": ["c"],
    }
    gone = withheld_text("en")
    assert withhold_texts(event, "en") == {
        **event,
        "citations": [{"name": gone, "quote": gone, "number": 1, "verified": True}],
        "args": {"name": gone},
        "steps": [{"id": "2", "depends_on": ["1"], "status": "pending", "title": gone}],
    }
