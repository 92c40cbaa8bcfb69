"""The answers to questions of people's own servers: encrypted while they are stored, and then only their fields."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from api.servers.secrets import Secrets

Payload = Mapping[str, Any]


def with_sealed_contents(
    payload: Payload, decisions: Sequence[Mapping[str, Any]], secrets: Secrets
) -> list[dict[str, Any]]:
    """Return the decisions with the values of answers encrypted, each under the name of its field."""
    questions = _questions(payload)
    return [
        {**one, "args": {name: secrets.seal(json.dumps(value)) for name, value in one["args"].items()}}
        if one["tool_call_id"] in questions and "args" in one
        else dict(one)
        for one in decisions
    ]


def opened_content(sealed: Mapping[str, str], secrets: Secrets) -> dict[str, Any]:
    """Return an answer as it was given; without the values that were encrypted with a key that is gone."""
    return {name: json.loads(value) for name, value in secrets.open(sealed).items()}


def without_contents(payload: Payload, decisions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the decisions with only the names of the fields that a server's question was answered with."""
    questions = _questions(payload)
    return [_without_content(one) if one["tool_call_id"] in questions else dict(one) for one in decisions]


def _without_content(decision: Mapping[str, Any]) -> dict[str, Any]:
    if "args" not in decision or "fields" in decision:
        return dict(decision)
    return {**decision, "args": {}, "fields": sorted(decision["args"])}


def _questions(payload: Payload) -> set[str]:
    return {action["tool_call_id"] for action in payload["actions"] if action.get("question")}
