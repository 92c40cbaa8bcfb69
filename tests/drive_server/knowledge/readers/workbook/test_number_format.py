"""Numbers are told as their cells show them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from drive_server.knowledge.readers.workbook.formats.number_format import BUILT_IN, number_format


@pytest.mark.parametrize(
    ("code", "number", "text"),
    [
        ("0.0%", "0.475", "47.5%"),
        ("0%", "-0.256", "-26%"),
        ("00000", "1234", "01234"),
        ("000-0000-0000", "13812345678", "138-1234-5678"),
        ("[<=9999999]###-####;(###) ###-####", "2125551234", "(212) 555-1234"),
        ("#,##0.00", "1234567.891", "1,234,567.89"),
        ("0.00", "1.005", "1.01"),
        ("0.00", "-0.001", "0.00"),
        ("#,##0.##", "1234.5", "1,234.5"),
        ("#,##0,", "1234567", "1,235"),
        ('0.0,,"M"', "1234567", "1.2M"),
        ('"$"#,##0.00', "1234.5", "$1,234.50"),
        ("[$€-407] #,##0.00", "1234.5", "€ 1,234.50"),
        ("#,##0.00_);[Red](#,##0.00)", "-1234.5", "(1,234.50)"),
        ("_($* #,##0.00_);_($* (#,##0.00);_($* -??_);_(@_)", "-5", "$(5.00)"),
        ('#,##0;-#,##0;"nil"', "0", "nil"),
        ('0 "kg"', "5.5", "6 kg"),
        ('[>=100]"high";[<0]"neg";0.0', "150", "high"),
        ('[>=100]"high";[<0]"neg";0.0', "12", "12.0"),
        ('[=1]"yes";[=0]"no";General', "1", "yes"),
        ("0.00E+00", "12345", "1.23E+04"),
        ("##0.0E+0", "12345", "12.3E+3"),
        ("# ?/?", "2.75", "2 3/4"),
        ("# ?/8", "2.75", "2 6/8"),
        ("# ??/??", "5", "5"),
        ("General", "1234567890123456", "1234567890123456"),
        ("0", "1234567890123456", "1234567890123456"),
        ("@", "45", "45"),
        ("[h]:mm", "1.135416666666667", "27:15"),
        ("[h]:mm", "-1.5", "-36:00"),
        ("[mm]:ss", "0.05", "72:00"),
        ("h:mm AM/PM", "46000.75", "6:00 PM"),
        ("h:mm:ss.000", "0.5", "12:00:00.000"),
        ("mm:ss.0", "0.0101", "14:32.6"),
        ("dd.mm.yyyy", "46000", "09.12.2025"),
        ("d-mmm-yy", "46000", "9-Dec-25"),
        ("mmm yyyy", "46000", "Dec 2025"),
        ("[$-409]dddd, mmmm d, yyyy", "46000", "Tuesday, December 9, 2025"),
        ('yyyy"年"m"月"d"日"', "46000", "2025年12月9日"),
        ("yyyy年m月d日 aaaa", "46000", "2025年12月9日 星期二"),
        ('上午/下午h"时"mm"分"', "46000.75", "下午6时00分"),
        ("[$-F800]dddd, mmmm dd, yyyy", "46000", "2025-12-09"),
        ("yyyy-mm-dd hh:mm:ss", "46000.99999999", "2025-12-10 00:00:00"),
        ("h:mm", "0.99999", "23:59"),
        ("yyyy-mm-dd", "60", "1900-02-29"),
        ("yyyy-mm-dd", "59", "1900-02-28"),
    ],
)
def test_a_number_is_shown_by_its_format(code: str, number: str, text: str) -> None:
    assert number_format(code).show(Decimal(number)) == text


@pytest.mark.parametrize(
    "code", ['0"', "[h", "\\", "_", "*", ";;;;;", "[>]0", "[$]0", "E+", "/", "?/", "0/", "m" * 300]
)
@pytest.mark.parametrize("number", ["0", "-1.5", "1E+300", "1E-300", "46000.5"])
def test_a_broken_format_shows_something_and_never_fails(code: str, number: str) -> None:
    assert isinstance(number_format(code).show(Decimal(number)), str)


@pytest.mark.parametrize("number", [14, 22, 31, 57])
def test_a_date_that_depends_on_the_country_is_shown_as_iso(number: int) -> None:
    assert number_format(BUILT_IN[number]).show(Decimal(46000)).startswith("2025-12-09")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("0.00", "number"),
        ("yyyy-mm-dd", "date"),
        ("m/d/yy h:mm", "date"),
        ("[h]:mm", "duration"),
        ("mm:ss", "duration"),
    ],
)
def test_a_format_says_what_its_numbers_are(code: str, kind: str) -> None:
    assert number_format(code).kind == kind


def test_texts_have_a_section_of_their_own() -> None:
    assert number_format('0;-0;0;@" units"').show_text("two") == "two units"
    assert number_format('"Nr. "@').show_text("7a") == "Nr. 7a"
    assert number_format("0.00").show_text("two") == "two"
