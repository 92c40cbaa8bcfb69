"""The seam at which the service's JSON answers leave: all text that a model or a file wrote passes the link filter."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from fastapi.routing import APIRoute
from pydantic import BaseModel

from api.http.schemas import ThreadView
from api.service import Service
from drive_server.kernel.errors import DriveError
from drive_server.kernel.messages import LANGUAGES
from graph.links.text_fields import cleaned


class FilteredRoute(APIRoute):
    """A route that filters its answer by the fields of its class, and the sentences of its errors."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, _filtered(endpoint), **options)


def _filtered(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(endpoint)
    async def answer(*args: Any, **values: Any) -> Any:
        service = next(value for value in values.values() if isinstance(value, Service))
        try:
            result = await endpoint(*args, **values)
        except DriveError as error:
            filter_error(error, service.graph.link_filter().clean)
            raise
        return filtered_view(result, service) if isinstance(result, BaseModel) else result

    return answer


def filtered_view(view: BaseModel, service: Service) -> BaseModel:
    """Return an answer as it may leave. In a thread, addresses that the person wrote may be repeated."""
    said = view.person_texts() if isinstance(view, ThreadView) else []
    return cleaned(type(view), view, service.graph.link_filter(*said).clean)


def filter_error(error: DriveError, clean: Callable[[str], str]) -> None:
    """Filter the sentences of an error in every language, in place."""
    for language in LANGUAGES:
        sentence, hint = error.texts(language)
        error.translated[language] = clean(sentence), clean(hint)
    error.message, error.hint = clean(error.message), clean(error.hint)
    error.details = cleaned(dict[str, Any], error.details, clean)
