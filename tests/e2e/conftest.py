from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from tests.e2e.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Person

_numbers = count(1)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("e2e") / "data")
    service.data_dir.mkdir()
    yield service.start()
    service.stop()


@pytest.fixture
def alice(service: Service) -> Iterator[Person]:
    person = service.add_person(f"alice{next(_numbers)}@example.com")
    yield person
    person.close()


@pytest.fixture(scope="session")
def bob(service: Service) -> Iterator[Person]:
    person = service.add_person("bob@example.com")
    yield person
    person.close()
