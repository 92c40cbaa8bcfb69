from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.errors import InvalidInputError
from drive_server.knowledge.embedding.embedder import CjkEmbedder, EarlierLocalEmbedder, LocalEmbedder, NoEmbedder
from drive_server.knowledge.embedding.selection import Embedders
from drive_server.knowledge.embedding.service import RemoteEmbedder
from tests.drive_server.knowledge.embedding_server import Script, embedding_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def script() -> Iterator[Script]:
    with embedding_server() as script:
        yield script


async def authorization(embedders: Embedders, setting: str, script: Script) -> str | None:
    await embedders.open(setting).embed_query("a")
    await embedders.close()
    return script.requests[-1]["headers"].get("Authorization")


def test_the_models_in_the_package_need_no_service() -> None:
    embedders = Embedders(openai_url="http://127.0.0.1:9/v1", openai_key="key")
    assert isinstance(embedders.open("local"), LocalEmbedder)
    assert isinstance(embedders.open("none"), NoEmbedder)


def test_only_the_local_model_leaves_texts_to_another_one() -> None:
    embedders = Embedders("http://127.0.0.1:9/v1")
    assert isinstance(embedders.open_late("local"), CjkEmbedder)
    assert embedders.open_late("none") is embedders.open_late("openai:m") is None


@pytest.mark.parametrize("setting", ["gpt-2", "", "openai:", "openai: "])
def test_a_name_without_a_service_is_refused(setting: str) -> None:
    with pytest.raises(InvalidInputError):
        Embedders(openai_key="key").open(setting)


async def test_the_key_of_the_language_model_goes_to_its_own_service_only(script: Script) -> None:
    ours = Embedders(openai_url=script.url, openai_key="theirs")
    assert await authorization(ours, "openai:m", script) == "Bearer theirs"
    assert script.requests[-1]["body"]["model"] == "m"
    run_in_thread = Embedders(script.url, openai_url="http://127.0.0.1:9/v1", openai_key="theirs")
    assert await authorization(run_in_thread, "openai:m", script) is None
    assert await authorization(run_in_thread, "m", script) is None
    own = Embedders(script.url, "own", openai_key="theirs")
    assert await authorization(own, "m", script) == "Bearer own"


def test_the_model_of_a_table_is_opened_by_its_name() -> None:
    embedders = Embedders("http://127.0.0.1:9/v1")
    for embedder in (
        LocalEmbedder(),
        EarlierLocalEmbedder(),
        NoEmbedder(),
        embedders.open("m"),
        embedders.open("openai:m"),
    ):
        found = embedders.by_name(embedder.name)
        assert found is not None
        assert type(found) is type(embedder)
    assert isinstance(embedders.by_name("remote:other"), RemoteEmbedder)
    assert Embedders().by_name("remote:other") is None
    assert embedders.by_name("unknown") is None
