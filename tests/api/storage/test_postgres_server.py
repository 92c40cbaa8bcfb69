"""The server of the tests keeps the databases that others are made from, whenever they were made."""

from __future__ import annotations

import psycopg
import pytest

from tests.api.storage.postgres_server import MAX_KEPT, running_server


def test_a_template_stays_however_many_databases_are_made_after_it() -> None:
    with running_server() as server:
        unused = [server.new_database() for _ in range(3)]
        template = server.new_database()
        name = template.partition("@/")[2].partition("?")[0]
        made = [server.new_database(name) for _ in range(MAX_KEPT + 3)]
        for kept in (template, made[-1]):
            psycopg.connect(kept).close()
        for url in unused:
            with pytest.raises(psycopg.OperationalError, match="does not exist"):
                psycopg.connect(url)
