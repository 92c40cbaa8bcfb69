"""Chat templates as servers of models render them: Jinja in a sandbox, with what Hugging Face adds to it.

By the documentation of transformers, "chat templates": `tojson` without escaping, `raise_exception`, `strftime_now`,
loop controls, and `{% generation %}`.
"""

import copy
import json
from collections.abc import Callable
from datetime import date
from typing import Any, Final, NoReturn

from jinja2 import Template, TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

Request = dict[str, Any]
TODAY: Final = date(2026, 11, 29)


class _Generation(Extension):
    """Marks the parts that a model writes: rendered as they are."""

    tags = {"generation"}  # noqa: RUF012 - the library's own attribute

    def parse(self, parser: Parser) -> nodes.Node:
        """Return the body of the block."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("written"), [], [], body).set_lineno(line)

    def written(self, caller: Callable[[], str]) -> str:
        """Return what stands in the block."""
        return caller()


def _to_json(value: Any, indent: int | None = None, *, ensure_ascii: bool = False, **_: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def compiled(source: str) -> Template:
    """Return the template, ready to be rendered."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    added: dict[str, Any] = {"raise_exception": _refuse, "strftime_now": TODAY.strftime}
    environment.globals.update(added)
    return environment.from_string(source)


def prompt_of(template: Template, request: Request) -> str:
    """Render a request, with arguments as objects or as text, whichever the template takes.

    Raises the template's own refusal, or the error of Jinja or of Python in it.
    """
    try:
        return _rendered(template, _with_objects(request))
    except (TemplateError, TypeError) as error:
        try:
            return _rendered(template, request)
        except (TemplateError, TypeError):
            raise error from None


def _rendered(template: Template, request: Request) -> str:
    said = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True}
    return template.render(messages=request["messages"], tools=request.get("tools") or None, **said)


def _with_objects(request: Request) -> Request:
    changed = copy.deepcopy(request)
    for message in changed["messages"]:
        for call in message.get("tool_calls") or ():
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return changed
