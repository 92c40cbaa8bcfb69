import pytest

from drive_server.services.identity.profile import languages_in, name_in


@pytest.mark.parametrize(
    ("email", "name"),
    [("ann.lee@example.com", "Ann Lee"), ("li_wei@例子.cn", "Li Wei"), ("me@localhost", ""), ("a.b2@example.com", "")],
)
def test_a_name_is_what_the_address_tells_and_nothing_is_made_up(email: str, name: str) -> None:
    assert name_in(email) == name


def test_languages_are_those_of_the_names_and_rare_ones_do_not_count() -> None:
    assert languages_in(["report.pdf", "notes", "合同.docx", "合同2.md", "租约.txt"]) == ["zh", "Latin script"]
    assert languages_in(["会議の記録.md", "회의록.md", "договор.pdf", "123.csv"]) == ["Cyrillic script", "ja", "ko"]
    assert languages_in([*["report.pdf"] * 30, "合同.docx"]) == ["Latin script"]
    assert languages_in([]) == []
