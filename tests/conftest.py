import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the long tests, those that need more time than the others: nobody waits for them alone at the end."""
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)
