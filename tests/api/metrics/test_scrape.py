"""`/metrics` as Prometheus reads it: parsed by its own parser, for administrators only, without a word of anybody's."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from tests.api.command_model import command
from tests.e2e.person import Person

Samples = dict[tuple[str, tuple[str, ...]], float]


def scraped(person: Person) -> Samples:
    answer = person.http.get("/metrics")
    answer.raise_for_status()
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def grown(before: Samples, after: Samples, name: str, *labels: str) -> float:
    return after.get((name, labels), 0) - before.get((name, labels), 0)


def test_runs_approvals_requests_and_contents_are_counted(owner: Person) -> None:
    before = scraped(owner)
    owner.upload("counted secret.txt", "seven b")
    with owner.chat(command("create_folder", name="counted")) as turn:
        turn.finish()
    item = next(item for item in owner.children() if item["name"] == "counted")
    with owner.chat(command("share_item", item_id=item["id"], email="x@example.com", role="viewer")) as turn:
        turn.until("approval_needed")
        waiting = scraped(owner)
    after = scraped(owner)
    assert grown(before, after, "drive_agent_runs_total", "success") == 1
    assert grown(before, after, "drive_agent_first_words_seconds_count") >= 1
    assert waiting[("drive_agent_open_approvals", ())] == 1
    assert waiting[("drive_agent_open_runs", ("waiting",))] == 1
    assert grown(before, after, "drive_agent_request_seconds_count", "POST", "upload_file", "201") == 1
    assert grown(before, after, "drive_agent_contents") == 1
    assert grown(before, after, "drive_agent_content_bytes") == len("seven b")
    assert after[("drive_agent_people", ())] == 1
    assert "secret" not in owner.http.get("/metrics").text


def test_refusals_are_counted_and_only_administrators_read_metrics(owner: Person) -> None:
    before = scraped(owner)
    reader = owner.add_new("reader")
    stranger = Person(str(owner.http.base_url), "wrong", "nobody@example.com")
    statuses = [person.http.get("/metrics").status_code for person in (reader, stranger)]
    reader.close()
    stranger.close()
    assert statuses == [403, 401]
    after = scraped(owner)
    assert grown(before, after, "drive_agent_refusals_total", "access", "forbidden") == 1
    assert grown(before, after, "drive_agent_refusals_total", "access", "unauthenticated") == 1
