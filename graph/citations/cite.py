"""Check the quotations of an answer from files, tell clients the citations, and name those not found."""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime

from drive_server.kernel.texts import Texts
from graph.citations.incomplete import NOT_FOUND, incomplete_notice
from graph.citations.quotes import Quotation, has_marks, quotations_of
from graph.citations.rewording import REWORDED, marked_as_reworded
from graph.citations.sources import SOURCES, Source, context_in, merge_sources, sources_in
from graph.citations.tables import TableAnswer, table_answer, table_results, verified_by_tables
from graph.citations.unread import UNREAD
from graph.citations.verification import check_quotations
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.events.answers import CitationView, WhyUnverified
from graph.events.sending import emit
from graph.language import Language, join_names
from graph.links.filter import with_omissions
from graph.messages.grouping import call_ids
from graph.messages.stored_results import WHOLE, ResultStore
from graph.messages.window import stored_result_of
from graph.messages.written import outcome_of
from graph.state import State, Update, active_agent, current_step, running_turn, said_last

CITATIONS: Final = "citations"
"""Key in an answer's `additional_kwargs`: the list that the event of the same name has."""
QUOTED_CHARACTERS: Final = 120

TEXTS: Final = Texts.beside(__file__)


def must_cite(state: State) -> bool:
    """Say whether the given answer rests on files: on those that this attempt searched or read, or by its marks."""
    attempt = _attempt(state)
    answer = _answer(attempt)
    if answer is None:
        return False
    if has_marks(answer.text) or answer.additional_kwargs.get(UNREAD) or any(True for _ in sources_in(attempt)):
        return True
    around = context_in(attempt)
    return any(source.get("missing") for source in around) or (bool(around) and active_agent(state) == "search_agent")


def make_cite(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def cite(state: State, runtime: Runtime[RunContext]) -> Update:
        attempt = _attempt(state)
        answer = _answer(attempt)
        if answer is None:
            return {}
        quotations = _quotations(state, attempt, answer.text)
        citations: list[CitationView] = []
        if quotations:
            toolbox = await deps.connections.toolbox(deps.user(runtime))
            citations = await check_quotations(quotations, _sources(state), toolbox)
            answers = await _table_answers(state["messages"], deps.result_store(runtime))
            citations = await verified_by_tables(citations, quotations, answers, toolbox)
            read = await _read_texts(attempt, deps.result_store(runtime))
            citations = [marked_as_reworded(one, said_last(state), read) for one in citations]
        notice = _notices(state, attempt, answer, citations)
        return _update(answer, citations, notice) if citations or notice else {}

    return cite


def _attempt(state: State) -> list[AnyMessage]:
    """Return the messages since the running step, or else the turn, began."""
    messages, step = state["messages"], current_step(state)
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage) or (step and messages[index].id == step["after"]):
            return list(messages[index + 1 :])
    return list(messages)


def _answer(attempt: Sequence[AnyMessage]) -> AIMessage | None:
    last = attempt[-1] if attempt else None
    return last if isinstance(last, AIMessage) and last.text.strip() and not call_ids(last) else None


def _quotations(state: State, attempt: Sequence[AnyMessage], answer: str) -> list[Quotation]:
    """Return the quotations from files: outside the Search agent only numbered ones."""
    asked = [message.text for message in state["messages"] if isinstance(message, HumanMessage)][-1:]
    shown = [source for sources in (*sources_in(attempt), context_in(attempt)) for source in sources]
    names = [text for source in shown for text in (source["name"], source["path"])]
    found = quotations_of(with_omissions(answer), [*asked, *_queries(attempt), *names])
    return [one for one in found if one.number is not None or active_agent(state) == "search_agent"]


def _sources(state: State) -> list[Source]:
    """Return the versions that the thread has read, the newest first, then those around its requests.

    The document that is open comes last, in its newest version, if no version of it is among them.
    """
    found = _read_in(state["messages"])
    opened = state.get("place", {}).get("file_id")
    if opened and all(source["file_id"] != opened for source in found):
        found.append({"file_id": opened, "name": "", "path": "", "version": None, "read": True})
    return found


def _read_in(messages: Sequence[AnyMessage]) -> list[Source]:
    read = (source for shown in sources_in(messages) for source in shown if source["read"])
    return merge_sources({**source} for source in (*read, *context_in(messages)))


def _update(answer: AIMessage, citations: list[CitationView], notice: str) -> Update:
    if notice:
        emit({"type": "content", "text": f"\n\n{notice}", "message_id": str(answer.id)})
    emit({"type": "citations", "message_id": str(answer.id), "citations": citations})
    extra = {**answer.additional_kwargs, CITATIONS: citations}
    text = {"content": f"{answer.text}\n\n{notice}"} if notice else {}
    return {"messages": [answer.model_copy(update={"additional_kwargs": extra, **text})]}


def _notices(state: State, attempt: Sequence[AnyMessage], said: AIMessage, citations: Sequence[CitationView]) -> str:
    """Return the sentences below an answer: no file was read for it, unverified quotations, files with gaps."""
    answer = said.text
    language = running_turn(state)["language"]
    asked = said_last(state)
    incomplete = incomplete_notice(
        _read_in(state["messages"]),
        citations,
        # A report of a change takes no figure from a file.
        [] if _did_more(attempt) else _read_in(attempt),
        answer,
        asked,
        language,
    )
    found = _notice(state, attempt, answer, citations)
    if not found and (unsourced := said.additional_kwargs.get(UNREAD)):
        found = TEXTS.say(f"notice.{unsourced}", language)
    return "\n\n".join(filter(None, [found, incomplete]))


def _notice(state: State, attempt: Sequence[AnyMessage], answer: str, citations: Sequence[CitationView]) -> str:
    language = running_turn(state)["language"]
    failed = [one for one in citations if one["reason"]]
    reworded = [_line(one, one["reason"], language) for one in failed if one["reason"] in REWORDED]
    unverified = [_line(one, one["reason"], language) for one in failed if one["reason"] not in REWORDED]
    if failed:
        lines = [TEXTS.say("notice.reworded", language), *reworded] if reworded else []
        return "\n".join([*lines, *([TEXTS.say("notice.unverified", language), *unverified] if unverified else [])])
    return "" if citations or active_agent(state) != "search_agent" else _of_search(attempt, answer, language)


async def _read_texts(attempt: Sequence[AnyMessage], store: ResultStore | None) -> str:
    """Return the texts of the attempt's results; results stored beside the thread in full."""
    stored = [kept["reference"] for message in attempt if (kept := stored_result_of(message))]
    texts = await store.texts(stored) if store and stored else {}
    results = (message for message in attempt if isinstance(message, ToolMessage))
    return "\n".join(texts.get(message.tool_call_id, message.text) for message in results)


async def _table_answers(messages: Sequence[AnyMessage], store: ResultStore | None) -> list[TableAnswer]:
    """Return the answers of tables in this thread, the newest first; long answers are kept beside it."""
    results = table_results(reversed(messages))
    keys = [kept["reference"] for message in results if (kept := stored_result_of(message))]
    texts = await store.texts([*(f"{key}{WHOLE}" for key in keys), *keys]) if store and keys else {}
    found: list[TableAnswer | None] = []
    for message in results:
        key = message.tool_call_id
        text = texts.get(f"{key}{WHOLE}") or texts.get(key) or message.text
        found.append(table_answer(message, text))
    return [answer for answer in found if answer]


def _line(one: CitationView, reason: WhyUnverified, language: Language) -> str:
    words = " ".join(one["quote"].split())
    words = words if len(words) <= QUOTED_CHARACTERS else f"{words[: QUOTED_CHARACTERS - 1]}…"
    quote = f" “{words}”" if words else ""
    return f"- [{one['number']}]{quote}: {TEXTS.say(f'notice.{reason}', language)}"


def _of_search(attempt: Sequence[AnyMessage], answer: str, language: Language) -> str:
    """Say of an answer without citations that nothing was found, for which words, or that it has no source."""
    shown = list(sources_in(attempt))
    queries = _queries(attempt)
    if not shown or not queries:
        return ""
    quoted = join_names((f"“{query}”" for query in queries), language)
    says_so = NOT_FOUND.search(answer) is not None
    if not any(shown) and not says_so:
        return "" if _did_more(attempt) else TEXTS.say("notice.nothing", language, queries=quoted)
    if says_so and not any(shown):
        is_told = any(query.casefold() in answer.casefold() for query in queries)
        return "" if is_told else TEXTS.say("notice.searched", language, queries=quoted)
    names = [text for sources in shown for source in sources for text in (source["name"], source["path"]) if text]
    return "" if says_so or any(name in answer for name in names) else TEXTS.say("notice.unsourced", language)


def _queries(attempt: Sequence[AnyMessage]) -> list[str]:
    """Return the words that were searched for, each once."""
    calls = [call for message in attempt if isinstance(message, AIMessage) for call in message.tool_calls]
    found = (" ".join(str(call["args"]["query"]).split()) for call in calls if call["args"].get("query"))
    return list(dict.fromkeys(found))


def _did_more(attempt: Sequence[AnyMessage]) -> bool:
    return any(
        isinstance(message, ToolMessage) and SOURCES not in message.additional_kwargs and outcome_of(message) == "done"
        for message in attempt
    )
