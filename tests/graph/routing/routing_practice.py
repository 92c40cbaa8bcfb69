"""Utterances to write patterns by, in the classes that fool patterns and from everyday life: none is held out."""

from typing import Final

from tests.graph.routing.routing_cases import DOCUMENT, DRIVE, SEARCH
from tests.graph.routing.routing_cases import RoutingCase as Case
from tests.graph.routing.routing_practice_en import ENGLISH
from tests.graph.routing.routing_practice_zh import CHINESE

MIXED: Final[tuple[Case, ...]] = (
    Case("把 plan.md rename 成 final.md", DRIVE, "mixed"),
    Case("find 一下 March 的 invoice", SEARCH, "mixed"),
    Case("delete 掉 draft 那个 folder 吧", DRIVE, "mixed"),
    Case("帮我 check 一下 contract 里的 deadline", SEARCH, "mixed", clear=False),
    Case("wifi password 是多少", SEARCH, "mixed", also=(DRIVE,), clear=False),
    Case("把 photos 都 move 到 2024 这个 folder", DRIVE, "mixed"),
    Case("summarize 一下这个 pdf", SEARCH, "mixed", also=(DOCUMENT,), clear=False),
    Case("unshare 一下 budget.xlsx", DRIVE, "mixed", clear=False),
    Case("create 一个叫 Trips 的 folder", DRIVE, "mixed"),
    Case("把 conclusion 改得 shorter 一点", DOCUMENT, "mixed", in_document=True, clear=False),
    Case(
        "find 一下 invoice 然后 move 到 archive",
        DRIVE,
        "mixed",
        needs_plan=True,
        also=(SEARCH,),
        clear=False,
        kind="second",
    ),
    Case("把 plan.md rename 成 final.md 再 share 给 kim@example.com", DRIVE, "mixed", needs_plan=True, kind="second"),
    Case(
        "translate 一下 letter.md 然后 share 给 kim@example.com",
        DOCUMENT,
        "mixed",
        needs_plan=True,
        also=(
            DRIVE,
            SEARCH,
        ),
        clear=False,
        kind="second",
    ),
    Case("我 boss 说要 delete 这个 folder", DRIVE, "mixed", clear=False, silent=True, kind="reported"),
    Case("Tom 让我 share 这个 file 给他", DRIVE, "mixed", clear=False, silent=True, kind="reported"),
    Case("不要 delete plan.md", DRIVE, "mixed", clear=False, silent=True, kind="negation"),
    Case("don't 删掉 plan.md", DRIVE, "mixed", clear=False, silent=True, kind="negation"),
    Case("先别 share 给 tom@example.com", DRIVE, "mixed", clear=False, silent=True, kind="negation"),
    Case("plan.md 千万不要 move", DRIVE, "mixed", clear=False, silent=True, kind="negation"),
    Case("怎么 share 文件", DRIVE, "mixed", also=(SEARCH,), clear=False, silent=True, kind="about"),
    Case("how to 分享 folder", DRIVE, "mixed", also=(SEARCH,), clear=False, silent=True, kind="about"),
    Case("可以 undo 吗", DRIVE, "mixed", clear=False, kind="about"),
    Case("deleted 的文件能 restore 吗", DRIVE, "mixed", clear=False, silent=True, kind="about"),
    Case("translate 一下这个 document", DOCUMENT, "mixed", in_document=True),
    Case("summarize 这个 file", DOCUMENT, "mixed", in_document=True),
    Case("这个 doc 讲什么", DOCUMENT, "mixed", in_document=True, clear=False),
    Case("这个 report 里的 conclusion 改一下", DOCUMENT, "mixed", in_document=True),
)
ROUTING_PRACTICE: Final = ENGLISH + CHINESE + MIXED
