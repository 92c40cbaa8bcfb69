from api.events.frames import encode


def test_half_an_emoji_never_breaks_a_stream() -> None:
    assert encode({"type": "content", "text": "\ud83d\ude00"}) == '{"type":"content","text":"😀"}'.encode()
    assert encode({"type": "content", "text": "a\ud83d"}).decode().startswith('{"type":"content","text":"a')
    assert encode({"type": "x", "args": {"\udc00": ["\udc00", 1, None]}})


def test_no_character_ends_a_line_of_the_stream() -> None:
    hostile = "".join(map(chr, range(0x20))) + "\x7f\x85\u2028\u2029"
    data = encode({"type": "content", "text": hostile}).decode()
    assert data.splitlines() == [data]
