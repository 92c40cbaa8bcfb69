"""The server behind an address: which program it is, and how many tokens its model really reads there.

Only servers on this machine or a private network are asked: there the size of the context is the operator's choice, and
some cut longer requests without a word. llama.cpp answers `/props`, and `/v1/models` with `meta`; vLLM and SGLang
`/v1/models` with `max_model_len`; Ollama `/api/show` and `/api/ps`.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import httpx

from graph.settings import is_private_address

SECONDS: Final = 3.0
FRESH_SECONDS: Final = 600.0
"""How long an answer counts: a server may be started again with another context."""
SILENT_SECONDS: Final = 30.0
"""How long a server that did not answer is not asked again."""
OLLAMA_CONTEXT: Final = 4_096
"""Ollama's context where nobody sets one, with less than 24 GB of video memory (Ollama, "context length")."""
BILLION: Final = 1_000_000_000
SIZE: Final = re.compile(r"([\d.]+)\s*([BMbm])")

SERVED: Final = "served"
"""The name under which a chat model has the reader of its server."""

Program = Literal["", "llama.cpp", "ollama", "vllm"]
Asked = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as its server has it: tokens that it reads and writes together, and its parameters; 0: not known."""

    program: Program = ""
    context: int = 0
    parameters: int = 0

    @property
    def tells_progress(self) -> bool:
        """Say whether the server tells how far it has read a request, if it is asked to."""
        return self.program == "llama.cpp"


UNKNOWN: Final = ServedModel()


class ServedModelReader:
    """Asks a server about its model, and remembers the answer for ten minutes. Asked at once by several, it asks once.

    `known` is the last answer.

    `sent_context` is the context that every request asks for, where the server's protocol has a field for it (Ollama's
    own has). `clock` returns monotonic seconds.
    """

    def __init__(
        self,
        url: str,
        model: str,
        client: Callable[[], httpx.AsyncClient],
        sent_context: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._model = model
        self._client = client
        self._sent_context = sent_context
        self._clock = clock
        self.known = UNKNOWN
        self._until = 0.0
        self._lock = asyncio.Lock()

    async def read(self) -> ServedModel:
        """Return the known facts of the model; none for one that is not on a private network."""
        if not is_private_address(self._url):
            return UNKNOWN
        if self._clock() >= self._until:
            async with self._lock:
                if self._clock() >= self._until:
                    self.known = await served_model(self._url, self._model, self._client(), self._sent_context)
                    is_silent = self.known == UNKNOWN
                    self._until = self._clock() + (SILENT_SECONDS if is_silent else FRESH_SECONDS)
        return self.known


async def serving(model: object) -> ServedModel:
    """Return the facts that the server of a chat model states about it."""
    reader = vars(model).get(SERVED)
    return await reader.read() if isinstance(reader, ServedModelReader) else UNKNOWN


def share_reader(model: object, reader: ServedModelReader) -> None:
    """Give a model of another library the reader of its server."""
    # Behind the back of its fields: the class belongs to the library.
    vars(model)[SERVED] = reader


async def served_model(url: str, model: str, client: httpx.AsyncClient, sent_context: int = 0) -> ServedModel:
    """Ask the server of an OpenAI-compatible address, or of Ollama's own, about the model. Failures tell nothing."""
    root = (url if "://" in url else f"http://{url}").rstrip("/").removesuffix("/v1")
    models, props, show, running = await asyncio.gather(
        _asked(client, "GET", f"{root}/v1/models"),
        _asked(client, "GET", f"{root}/props"),
        _asked(client, "POST", f"{root}/api/show", {"model": model}),
        _asked(client, "GET", f"{root}/api/ps"),
    )
    found = (_of_props(props, models, model), _of_ollama(show, running, model, sent_context), _of_models(models, model))
    return next((one for one in found if one), UNKNOWN)


async def _asked(client: httpx.AsyncClient, method: str, url: str, body: Asked | None = None) -> Asked:
    """Return the object that the server answers; an empty one if it answers anything else."""
    try:
        answer = await client.request(method, url, json=body, timeout=SECONDS)
        said = answer.json() if answer.is_success else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
        return {}
    return cast("Asked", said) if isinstance(said, dict) else {}


def _of_props(props: Asked, models: Asked, model: str) -> ServedModel | None:
    """Read llama.cpp's properties: the context of one request (llama.cpp, server, "GET /props")."""
    meta = _dict(_entry(models, model).get("meta"))
    context = _number(_dict(props.get("default_generation_settings")).get("n_ctx")) or _number(meta.get("n_ctx"))
    if not context:
        return None
    return ServedModel("llama.cpp", context, _number(meta.get("n_params")))


def _of_ollama(show: Asked, running: Asked, model: str, sent_context: int) -> ServedModel | None:
    """Read Ollama's description of the model, and the context with which it runs at the moment."""
    details = _dict(show.get("details"))
    if not show.get("model_info") and not details:
        return None
    info = _dict(show.get("model_info"))
    loaded = next((one for one in _dicts(running.get("models")) if _names(one, model)), {})
    most = next((_number(value) for key, value in info.items() if key.endswith(".context_length")), 0)
    runs = _number(loaded.get("context_length")) or _parameter(show.get("parameters"), "num_ctx") or OLLAMA_CONTEXT
    chosen = sent_context or runs
    size = _number(info.get("general.parameter_count")) or _size(details.get("parameter_size"))
    return ServedModel("ollama", min(chosen, most or chosen), size)


def _of_models(models: Asked, model: str) -> ServedModel | None:
    """Read the list of models of vLLM or SGLang ("max_model_len")."""
    context = _number(_entry(models, model).get("max_model_len"))
    return ServedModel("vllm", context) if context else None


def _entry(models: Asked, model: str) -> Asked:
    """Return the model's entry of a list; the only one, if there is one, as some servers have names of their own."""
    listed = [*_dicts(models.get("data"))]
    named = next((one for one in listed if one.get("id") == model), None)
    return named or (listed[0] if len(listed) == 1 else {})


def _names(entry: Asked, model: str) -> bool:
    names = {str(entry.get("name")), str(entry.get("model"))}
    return model in names or f"{model}:latest" in names


def _parameter(text: object, name: str) -> int:
    found = re.search(rf"^{name}\s+(\d+)", text, re.MULTILINE) if isinstance(text, str) else None
    return int(found[1]) if found else 0


def _size(text: object) -> int:
    """Return the number of parameters that a size names: `3.1B`, `494.03M`."""
    found = SIZE.match(text) if isinstance(text, str) else None
    return round(float(found[1]) * (BILLION if found[2] in "Bb" else BILLION // 1_000)) if found else 0


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _dict(value: object) -> Asked:
    return cast("Asked", value) if isinstance(value, dict) else {}


def _dicts(value: object) -> Iterator[Asked]:
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return (cast("Asked", one) for one in listed if isinstance(one, dict))
