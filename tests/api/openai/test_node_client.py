"""Chat completions and responses, asked with OpenAI's client for JavaScript."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from tests.api.openai.asking import trash
from tests.node.runtime import NODE, PACKAGES

if TYPE_CHECKING:
    from tests.api.real_service import RealService
    from tests.e2e.person import Person

SCRIPT = """
import OpenAI from "openai";

const [baseURL, apiKey, order] = process.argv.slice(1);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = "drive_agent";
const told = {};

const stream = await client.chat.completions.create({
  model,
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: "user", content: "hello there" }],
});
told.streamed = "";
for await (const chunk of stream) {
  told.streamed += chunk.choices[0]?.delta?.content ?? "";
  told.usage = chunk.usage ?? told.usage;
}

const first = await client.responses.create({ model, input: order });
const asked = first.output.find((item) => item.type === "mcp_approval_request");
told.asked = asked.name;
const answers = client.responses.stream({
  model,
  previous_response_id: first.id,
  input: [{ type: "mcp_approval_response", approval_request_id: asked.id, approve: true }],
});
told.events = [];
for await (const event of answers) told.events.push(event.type);
const final = await answers.finalResponse();
told.done = final.output_text;
told.spent = final.usage.total_tokens;
const conversation = final.conversation.id;
const kept = await client.responses.create({ model, conversation, input: "and on" });
told.kept = [kept.output_text, kept.conversation.id === conversation];

told.models = [];
for await (const one of client.models.list()) told.models.push(one.id);
try {
  await client.chat.completions.create({ model: "nobody", messages: [{ role: "user", content: "x" }] });
} catch (error) {
  told.error = [error.constructor.name, error.status, error.code];
}
console.log(JSON.stringify(told));
"""


def test_the_client_for_javascript_works_unchanged(commanded: RealService, owner: Person) -> None:
    arguments = [f"{commanded.url}/v1", owner.token, trash(owner, "node.txt")]
    made = subprocess.run(
        [NODE, "--input-type=module", "--eval", SCRIPT, *arguments],
        cwd=PACKAGES,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    told: dict[str, Any] = json.loads(made.stdout)
    assert told["streamed"] == "You said hello there"
    assert told["usage"]["total_tokens"] >= 0
    assert told["asked"] == "trash_item"
    assert told["events"][0] == "response.created"
    assert told["events"][-1] == "response.completed"
    assert told["done"].startswith("Done:")
    assert told["spent"] >= 0
    assert told["kept"] == ["You said and on", True]
    assert told["models"] == ["drive_agent", "drive_agent:text"]
    assert told["error"] == ["NotFoundError", 404, "not_found"]
    assert "node.txt" not in owner.names()
