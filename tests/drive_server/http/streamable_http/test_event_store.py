"""The stored events of a session's streams, and who may read them."""

from __future__ import annotations

import asyncio

import pytest

from drive_server.http.streamable_http.event_store import (
    MAX_BUFFERED_BYTES,
    MAX_BUFFERED_STREAMS,
    MAX_UNREAD,
    EventLog,
    Stream,
)


def texts(stream: Stream) -> list[bytes]:
    return [event.data for event in stream.take()]


def test_a_reader_gets_what_came_before_it_and_each_event_once() -> None:
    stream = Stream("1")
    stream.add(b"first")
    reader = stream.attach()
    assert texts(stream) == [b"first"]
    stream.add(b"second")
    assert texts(stream) == [b"second"]
    assert texts(stream) == []
    assert stream.is_read_by(reader)


def test_a_resumed_stream_goes_on_after_the_event_that_was_seen() -> None:
    log = EventLog()
    stream = log.begin(7)
    stream.attach()
    for data in (b"a", b"b", b"c"):
        stream.add(data)
    first, *_ = stream.take()
    stream.add(b"answer", is_last=True)
    log.end(7)

    found = log.find(log.id_of(stream, first))

    assert found is not None
    assert found[0] is stream
    stream.attach(found[1])
    assert texts(stream) == [b"b", b"c", b"answer"]
    assert stream.is_complete


def test_the_start_of_a_stream_can_be_resumed_from_as_well() -> None:
    log = EventLog()
    stream = log.begin("x")
    start = log.id_to_start(stream)
    stream.attach()
    stream.add(b"a")
    stream.take()

    found = log.find(start)

    assert found is not None
    stream.attach(found[1])
    assert texts(stream) == [b"a"]
    assert log.id_to_start(stream) != log.id_to_start(stream)


@pytest.mark.parametrize("hostile", ["", "1", "../x", "00000000-1-1", "x" * 5000, "计划-1-1", "-", "1-2-3-4-5"])
def test_ids_that_this_session_did_not_give_are_unknown(hostile: str) -> None:
    log = EventLog()
    log.begin(1)
    assert log.find(hostile) is None


def test_the_ids_of_one_session_mean_nothing_in_another() -> None:
    one, other = EventLog(), EventLog()
    stream = one.begin(1)
    other.begin(1)
    assert one.find(one.id_to_start(stream)) is not None
    assert other.find(one.id_to_start(stream)) is None


def test_a_new_reader_lets_the_old_one_go() -> None:
    stream = Stream("1")
    old = stream.attach()
    new = stream.attach()
    assert not stream.is_read_by(old)
    stream.detach(old)
    assert stream.is_read_by(new)
    stream.detach()
    assert not stream.has_reader


def test_of_what_nobody_reads_progress_is_lost_first_and_no_answer() -> None:
    stream = Stream("1")
    stream.add(b"question")
    for number in range(MAX_UNREAD * 2):
        stream.add(b"%d" % number, can_be_dropped=True)
    stream.add(b"answer", is_last=True)

    kept = texts(stream)

    assert len(kept) == MAX_UNREAD + 1
    assert (kept[0], kept[-2], kept[-1]) == (b"question", b"%d" % (MAX_UNREAD * 2 - 1), b"answer")


def test_ended_streams_are_kept_within_bounds_the_newest_in_any_case() -> None:
    log = EventLog()
    for number in range(MAX_BUFFERED_STREAMS * 2):
        log.begin(number).add(b"small", is_last=True)
        log.end(number)
    big = log.begin("big")
    big.add(b"x" * MAX_BUFFERED_BYTES * 2, is_last=True)
    log.end("big")

    assert log.find(log.id_to_start(big)) is not None
    last = log.begin("last")
    last.add(b"answer", is_last=True)
    log.end("last")
    assert log.find(log.id_to_start(big)) is None
    assert log.find(log.id_to_start(last)) is not None


def test_an_answer_is_the_sole_event_until_it_is_read_or_something_was_said_before_it() -> None:
    alone, after_something = Stream("1"), Stream("2")
    assert alone.sole is None
    after_something.add(b"progress")
    for stream in (alone, after_something):
        stream.add(b"answer", is_last=True)

    assert alone.sole is not None
    assert alone.sole.data == b"answer"
    assert after_something.sole is None
    alone.take()
    assert alone.sole is None


def test_a_forgotten_stream_is_not_found_any_more() -> None:
    log = EventLog()
    stream = log.begin(7)
    start = log.id_to_start(stream)
    stream.add(b"answer", is_last=True)
    log.end(7)
    assert log.find(start) is not None

    log.forget(stream)

    assert log.find(start) is None


async def test_who_waits_for_a_reader_goes_on_when_there_is_one_that_is_up_to_date() -> None:
    stream = Stream("0")
    stream.add(b"before")
    waiting = asyncio.create_task(stream.wait_for_reader())
    await asyncio.sleep(0)
    stream.attach()
    await asyncio.sleep(0)
    assert not waiting.done()
    stream.take()
    await asyncio.wait_for(waiting, 10)
