from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING, Any

import pytest

from api.cli.chat.markdown_blocks import MarkdownBlocks
from api.cli.chat.transcript import Transcript
from api.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = """\
# Heading

One paragraph
of two lines.

- a list

- with a gap

  and more

```python
x = 1

y = 2
```

| a | b |
|---|---|
| 1 | 2 |

The end."""
BLOCKS = [
    "# Heading",
    "One paragraph\nof two lines.",
    "- a list\n\n- with a gap\n\n  and more",
    "```python\nx = 1\n\ny = 2\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.",
]


@pytest.mark.parametrize("seed", range(5))
def test_a_text_in_pieces_is_cut_between_its_blocks_wherever_the_pieces_end(seed: int) -> None:
    chance, blocks, at = random.Random(seed), MarkdownBlocks(), 0
    found: list[str] = []
    while at < len(TEXT):
        size = chance.randint(1, 12)
        found += blocks.feed(TEXT[at : at + size])
        at += size

    assert [block.strip("\n") for block in [*found, blocks.rest()]] == BLOCKS


class FakeTerminal(io.StringIO):
    """A file that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def shown(*events: dict[str, Any], terminal: bool = True) -> str:
        out = FakeTerminal() if terminal else io.StringIO()
        monkeypatch.setattr("sys.stdout", out)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        transcript = Transcript(Terminal())
        for event in events:
            transcript.show(event)
        return out.getvalue()

    return shown


DONE = {"type": "done", "status": "success"}


def test_an_answer_is_rendered_on_a_terminal(shown: Callable[..., str]) -> None:
    pieces = [
        {"type": "content", "text": piece}
        for piece in ("Some **bo", "ld** text and [a link](https://x.example/)\n\n", "`code`")
    ]

    out = shown(*pieces, DONE)

    assert "**" not in out
    assert "\x1b[1mbold\x1b[0m" in out
    assert "https://x.example/" in out
    assert "\x1b]8" not in out


def test_an_answer_in_a_pipe_is_the_text_as_it_came(shown: Callable[..., str]) -> None:
    assert shown({"type": "content", "text": "Some **bold** text"}, DONE, terminal=False) == "Some **bold** text"


def test_escapes_in_an_answer_reach_no_terminal(shown: Callable[..., str]) -> None:
    out = shown({"type": "content", "text": "red \x1b]0;title\x07 `\x1b[31m`"}, DONE)

    assert "\x1b]" not in out
    assert "\x1b[31m" not in out.replace("\\x1b[31m", "")


def test_what_comes_before_a_call_is_shown_before_it(shown: Callable[..., str]) -> None:
    out = shown(
        {"type": "content", "text": "First"}, {"type": "tool_call_start", "name": "read_file", "args": {}}, DONE
    )

    assert out.index("First") < out.index("read_file")
