from tests.web.types import TYPES, generated


def test_the_page_is_typed_by_what_the_service_describes() -> None:
    assert TYPES.read_text() == generated(), "write it anew: python -m tests.web.types"
