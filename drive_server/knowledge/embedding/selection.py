"""Selection of embedding models: the one of the settings, and those of earlier tables."""

from drive_server.kernel.errors import InvalidInputError
from drive_server.knowledge.embedding.embedder import (
    CjkEmbedder,
    EarlierLocalEmbedder,
    Embedder,
    LocalEmbedder,
    NoEmbedder,
)
from drive_server.knowledge.embedding.service import EmbeddingService, RemoteEmbedder

OPENAI_PREFIX = "openai:"
OPENAI_URL = "https://api.openai.com/v1"
REMOTE_PREFIX = "remote:"


class Embedders:
    """Opens models: `local`, `none`, the name of one of the service at `url`, or `openai:` and such a name.

    With `openai:` and no `url`, the address and key that the language model has are used, `openai_url` and
    `openai_key`; that key goes nowhere else.
    """

    def __init__(self, url: str = "", key: str = "", *, openai_url: str = "", openai_key: str = "") -> None:
        self._url, self._key = url, key
        self._openai_url, self._openai_key = openai_url, openai_key
        self._service: EmbeddingService | None = None

    def open(self, setting: str) -> Embedder:
        """Return the embedder of `DRIVE_EMBEDDING_MODEL`. Raises `InvalidInputError` if it is unknown."""
        if setting == "local":
            return LocalEmbedder()
        if setting == "none":
            return NoEmbedder()
        model = setting.removeprefix(OPENAI_PREFIX)
        if self._url:
            self._service = EmbeddingService(self._url, self._key)
        elif model != setting:
            self._service = EmbeddingService(self._openai_url or OPENAI_URL, self._key or self._openai_key)
        if self._service is None or not model.strip():
            raise InvalidInputError(
                "DRIVE_EMBEDDING_MODEL is not known.",
                hint="Use local, none, or openai:NAME; or the name of a model of the service at DRIVE_EMBEDDING_URL.",
            )
        return RemoteEmbedder(self._service, model)

    def open_late(self, setting: str) -> Embedder | None:
        """Return the model of texts that the setting's own does not support, None if it supports all or is `none`."""
        return CjkEmbedder() if setting == "local" else None

    def by_name(self, name: str) -> Embedder | None:
        """Return the embedder of this name, None if it is no longer available."""
        for embedder in (LocalEmbedder, EarlierLocalEmbedder, NoEmbedder):
            if embedder.name == name:
                return embedder()
        if name.startswith(REMOTE_PREFIX) and self._url:
            self._service = self._service or EmbeddingService(self._url, self._key)
            return RemoteEmbedder(self._service, name.removeprefix(REMOTE_PREFIX))
        return None

    async def close(self) -> None:
        """Close the connections to the service."""
        if self._service is not None:
            await self._service.close()
