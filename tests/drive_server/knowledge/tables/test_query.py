"""Questions to tables in files: exact, or refused."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from drive_server.knowledge.tables import columns
from drive_server.knowledge.tables.numbers import readings
from drive_server.knowledge.tables.query import query_table
from drive_server.knowledge.tables.request import Aggregate, CellText, Condition, Refusal, TableQuery
from tests.drive_server.knowledge.tables.asker import SUM, Asker, values


def test_a_total_is_exact_names_its_cells_and_leaves_out_the_row_that_is_one(asker: Asker) -> None:
    answer = asker.answer(SUM)

    assert (values(answer), answer.units, answer.header_row, answer.cells) == ([("3134.40",)], ("$",), 3, ("line=4-6",))
    assert [one.cell for one in answer.left_out] == ["line=7"]


def test_groups_are_sorted_by_a_result_and_the_first_are_answered(asker: Asker) -> None:
    average, count = Aggregate("average", "Amount"), Aggregate("count")
    answer = asker.answer(SUM, count, average, group_by=("customer",), sort_by="sum(Amount)", descending=True, limit=1)
    by_name = asker.answer(SUM, group_by=("Customer",), sort_by="Customer", descending=True)
    by_amount = asker.answer(SUM, group_by=("Customer",), sort_by="Amount")

    assert values(answer) == [("Beta", "2000.00", "1", "2000")]
    assert (answer.result_rows, answer.rows[0].cells, answer.cells) == (2, ("line=5",), ("line=5",))
    assert values(by_name) == [("Beta", "2000.00"), ("ACME", "1134.40")]
    assert values(by_amount) == [("ACME", "1134.40"), ("Beta", "2000.00")]
    assert by_amount.rows[0].cells == ("line=4", "line=6")


def test_least_most_and_different_values(asker: Asker) -> None:
    names = [("min", "Amount"), ("max", "Amount"), ("max", "Date"), ("distinct", "Customer"), ("count", "Note")]

    answer = asker.answer(*(Aggregate(function, column) for function, column in names))  # pyright: ignore[reportArgumentType] - of the list above

    assert values(answer) == [("-100.10", "2000.00", "2026-12-01", "2", "1")]


def test_nothing_that_passes_adds_up_to_nothing(asker: Asker) -> None:
    answer = asker.answer(SUM, Aggregate("count"), filters=(Condition("Customer", "=", ("Gamma",)),))

    assert (values(answer), answer.cells) == ([(None, "0")], ())


def test_an_average_says_six_digits_more(asker: Asker) -> None:
    assert values(asker.column("1", "0", "0").answer(Aggregate("average", "Amount"))) == [("0.333333",)]


def test_rows_are_filtered_by_month_and_amount_and_sorted(asker: Asker) -> None:
    month = Condition("Date", "=", ("2026-11",))
    november = asker.answer(columns=("Customer", "Amount"), filters=(month,), sort_by="Amount", descending=True)
    large = asker.answer(Aggregate("count"), filters=(Condition("Amount", "between", ("1000", "$1,500.00")),))
    by_month = asker.answer(SUM, group_by=("Date",), date_unit="month")
    quarters = asker.answer(SUM, group_by=("Date",), date_unit="quarter")

    assert values(november) == [("Beta", "$2,000.00"), ("ACME", "$1,234.50")]
    assert values(large) == [("1",)]
    assert values(by_month) == [("2026-11", "3234.50"), ("2026-12", "-100.10")]
    assert values(quarters) == [("2026-Q4", "3134.40")]


@pytest.mark.parametrize(
    ("operator", "given", "found"),
    [
        ("=", ("acme",), 2),
        ("!=", ("ACME",), 1),
        ("in", ("beta", "gamma"), 1),
        ("contains", ("CM",), 2),
        ("not_contains", ("cm",), 1),
        ("starts_with", ("b",), 1),
        ("empty", (), 0),
        ("not_empty", (), 3),
    ],
)
def test_texts_are_compared_without_case(asker: Asker, operator: Any, given: tuple[str, ...], found: int) -> None:
    assert asker.answer(filters=(Condition("Customer", operator, given),)).matched_rows == found


@pytest.mark.parametrize(
    ("operator", "given", "found"),
    [
        (">", ("2026-11",), 1),
        (">=", ("2026-11-07",), 2),
        ("<", ("2026年12月",), 2),
        ("<=", ("2026-11-05",), 1),
        ("between", ("2026-11-06", "2026-12-01"), 2),
        ("!=", ("2026-11-05",), 2),
        ("in", ("2026-11-05", "2026-12"), 2),
        ("=", ("2026",), 3),
    ],
)
def test_dates_are_compared_with_periods(asker: Asker, operator: Any, given: tuple[str, ...], found: int) -> None:
    assert asker.answer(filters=(Condition("Date", operator, given),)).matched_rows == found


@pytest.mark.parametrize(
    ("cells", "more", "sum_", "unit"),
    [
        (("1,234.50", "2"), {}, "1236.50", ""),
        (("¥1,234.50", "￥２０", "人民币30元"), {}, "1284.50", "CNY"),
        (("3.5万", "1.2亿元"), {}, "120035000", "CNY"),
        (("1.234,56 €", "€ 10"), {}, "1244.56", "EUR"),
        (("1.234", "5,5"), {}, "1239.5", ""),
        (("1.234", "0.5"), {}, "1.734", ""),
        (("1'234.50", "1 000"), {}, "2234.50", ""),
        (("(100.10)", "-5", "−1"), {}, "-106.10", ""),
        (("US$ 5", "$-2.50"), {}, "2.50", "$"),
        (("12.5%", "7.5 %"), {}, "20.0", "%"),
        (("-", "n/a", "", "7"), {}, "7", ""),
        (("0.1", "0.2"), {}, "0.3", ""),
        (("1.234", "5.678"), {"decimal_mark": ","}, "6912", ""),
        (("1.234", "5.678"), {"decimal_mark": "."}, "6.912", ""),
        (("1,00,000", "5"), {}, "100005", ""),
        (("99999999999999999.99", "0.01"), {}, "100000000000000000.00", ""),
    ],
)
def test_numbers_are_read_as_people_write_them(
    asker: Asker, cells: tuple[str, ...], more: dict[str, Any], sum_: str, unit: str
) -> None:
    answer = asker.column(*cells).answer(SUM, **more)

    assert (values(answer), answer.units) == ([(sum_,)], (unit,))


def test_numbers_of_a_table_with_semicolons_need_evidence(asker: Asker) -> None:
    german = asker.text("Art;Amount\na;1.234,50\nb;1.000\n").answer(SUM)
    unclear = asker.text("Art;Amount\na;1,234\nb;1,000\n").refused(SUM)

    assert (values(german), unclear.code) == ([("2234.50",)], "table_ambiguous")


def test_numbers_that_can_be_read_in_two_ways_are_refused_with_their_cells(asker: Asker) -> None:
    refusal = asker.column("1.234", "5.678").refused(SUM)

    assert refusal.code == "table_ambiguous"
    assert refusal.details["unreadable"][0] == {"cell": "line=2", "text": "1.234"}


def test_a_total_with_a_cell_that_is_no_number_is_refused_or_leaves_the_row_out_and_says_so(asker: Asker) -> None:
    asker.column("5", "about ten", "7")
    refusal, answer = asker.refused(SUM), asker.answer(SUM, skip_unreadable=True)

    assert refusal.code == "table_unreadable"
    assert (refusal.details["unreadable"], refusal.details["rows"]) == ([{"cell": "line=3", "text": "about ten"}], 1)
    assert refusal.details["columns"] == ["No", "Amount"]
    assert (values(answer), answer.cells) == ([("12",)], ("line=2", "line=4"))
    assert (answer.unreadable_rows, answer.unreadable) == (1, (CellText("line=3", "about ten"),))


def test_a_filter_refuses_cells_that_it_can_t_judge(asker: Asker) -> None:
    asker.text("No,Amount\n1,5\n2,many\n3,70\n")
    over, other = Condition("Amount", ">", ("6",)), Condition("No", "!=", ("2",))

    assert asker.refused(filters=(over,)).details["unreadable"] == [{"cell": "line=3", "text": "many"}]
    assert values(asker.answer(filters=(over, other))) == [("3", "70")]


def test_currencies_are_never_added_to_each_other(asker: Asker) -> None:
    asker.text("Currency,Amount\nUSD,$5\nEUR,€7\nUSD,$1\n")

    assert asker.refused(SUM).params["units"] == "$, EUR"
    assert asker.refused(sort_by="Amount").code == "table_units"
    assert values(asker.answer(SUM, group_by=("Currency",))) == [("USD", "6 $"), ("EUR", "7 EUR")]
    assert values(asker.answer(SUM, filters=(Condition("Amount", "contains", ("€",)),))) == [("7",)]


@pytest.mark.parametrize(
    ("operator", "given", "found"), [(">", ("100",), "2"), ("=", ("100",), "1"), ("between", ("$1", "$200"), "3")]
)
def test_numbers_of_several_currencies_are_never_compared(
    asker: Asker, operator: Any, given: tuple[str, ...], found: str
) -> None:
    asker.text("Kind,Amount\nhome,$150\nabroad,CHF 150\nhome,200\nhome,$100\n")
    large = Condition("Amount", operator, given)

    mixed = asker.refused(Aggregate("count"), filters=(large,))
    other = asker.refused(Aggregate("count"), filters=(Condition("Amount", ">", ("£100",)),))
    at_home = asker.answer(Aggregate("count"), filters=(large, Condition("Kind", "=", ("home",))))

    assert (mixed.code, mixed.params["units"]) == ("table_units", "-, $, CHF")
    assert other.code == "table_units"
    assert values(at_home) == [(found,)]


def test_different_values_are_those_that_make_groups(asker: Asker) -> None:
    distinct, dates = Aggregate("distinct", "Amount"), Aggregate("distinct", "Date")
    asker.text('Date,Amount\n2026-11-05,"1,000"\n5 Nov 2026,1000.00\n2026-11-06,$1000\n2026-11-06,7\n')

    answer = asker.answer(distinct, dates)

    assert values(answer) == [("3", "2")]
    assert [asker.answer(group_by=(name,)).result_rows for name in ("Amount", "Date")] == [3, 2]


@pytest.mark.parametrize(
    ("cells", "more", "periods"),
    [
        (("2026年11月5日", "2026/12/1"), {}, ["2026-11", "2026-12"]),
        (("5 Nov 2026", "December 1, 2026"), {}, ["2026-11", "2026-12"]),
        (("05.11.2026", "1.12.2026"), {}, ["2026-11", "2026-12"]),
        (("13/11/2026", "01/12/2026"), {}, ["2026-11", "2026-12"]),
        (("11/13/2026", "12/01/2026"), {}, ["2026-11", "2026-12"]),
        (("11/25/26", "12/01/26"), {}, ["2026-11", "2026-12"]),
        (("25/11/26", "13/11/26", "01/12/26"), {}, ["2026-11", "2026-12"]),
        (("25/11/98", "01/12/98"), {}, ["1998-11", "1998-12"]),
        (("01/12/26", "13/12/2026"), {}, ["2026-12"]),
        (("01/12/2026", "02/12/2026"), {"date_order": "mdy"}, ["2026-01", "2026-02"]),
        (("01/12/26", "02/12/26"), {"date_order": "mdy"}, ["2026-01", "2026-02"]),
        (("2026-11-05 14:30", "2026-12-01T08:00:00"), {}, ["2026-11", "2026-12"]),
    ],
)
def test_dates_are_read_as_people_write_them(
    asker: Asker, cells: tuple[str, ...], more: dict[str, Any], periods: list[str]
) -> None:
    asker.text("日期,金额\n" + "".join(f'"{cell}",1\n' for cell in cells))

    assert [row[0] for row in values(asker.answer(group_by=("日期",), date_unit="month", **more))] == periods


@pytest.mark.parametrize(
    "days",
    [
        ("01/12/2026", "02/12/2026"),
        ("01/12/26", "02/12/26"),
        ("11/11/26", "12/12/26"),
        ("26/11/25", "26/12/13"),
    ],
)
def test_dates_whose_order_is_open_are_refused(asker: Asker, days: tuple[str, ...]) -> None:
    asker.text("Day,Sum\n" + "".join(f"{day},1\n" for day in days))

    assert asker.refused(group_by=("Day",), date_unit="month").code == "table_open_dates"


@pytest.mark.parametrize("day", ["11/25/45", "98/11/25"])
def test_a_year_of_two_digits_that_is_of_no_known_century_or_comes_first_is_no_date(asker: Asker, day: str) -> None:
    asker.text(f"Day,Sum\n11/25/26,1\n11/26/26,1\n{day},2\n")

    assert asker.refused(group_by=("Day",), date_unit="year").code == "table_unreadable_dates"


def test_a_header_may_have_years_and_a_title_above(asker: Asker) -> None:
    years = asker.sheet(["Budget"], [], ["Item", 2025, 2026], ["a", 5, 6], ["b", 7, 8]).answer(Aggregate("sum", "2026"))
    none = asker.text("a,5\nb,7\n").answer(Aggregate("sum", "column B"))

    assert (values(years), years.header_row, years.cells) == ([("14",)], 3, ("sheet=Sheet!C4:C5",))
    assert (values(none), none.header_row) == ([("12",)], None)


def test_an_unlabelled_total_in_the_last_row_is_left_out_unless_it_is_to_be_kept(asker: Asker) -> None:
    asker.text("Item,Cost\na,5\nb,7\n,12\n")
    cost = Aggregate("sum", "Cost")

    assert (values(asker.answer(cost)), values(asker.answer(cost, keep_totals=True))) == ([("12",)], [("24",)])


@pytest.mark.parametrize("label", ["Total", "TOTAL:", "Grand Total", "合计", "总计：", "小计"])
def test_totals_are_known_by_their_label(asker: Asker, label: str) -> None:
    asker.text(f"Item,Amount\nTotal Wine,5\nb,7\n{label},12\n")

    assert values(asker.answer(SUM)) == [("12",)]


def test_names_and_values_are_never_read_as_sql(asker: Asker) -> None:
    name, value = 'x") FROM t; DROP TABLE t --', "a' OR 1=1 --"
    asker.text(f'"x"") FROM t; DROP TABLE t --",n\n{value},1\nb,2\n')

    answer = asker.answer(Aggregate("sum", "n"), filters=(Condition(name, "=", (value,)),), group_by=(name,))

    assert values(answer) == [(value, "1")]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"columns": ("Price",)}, "table_no_column"),
        ({"header_row": 2}, "table_no_header"),
        ({"filters": (Condition("Customer", ">", ("a",)),)}, "table_no_order"),
        ({"filters": (Condition("Amount", ">", ("many",)),)}, "table_value_number"),
        ({"filters": (Condition("Date", "<", ("soon",)),)}, "table_value_date"),
        ({"filters": (Condition("Date", "between", ("2026",)),)}, "table_values"),
        ({"aggregates": (Aggregate("sum"),)}, "table_needs_column"),
        ({"aggregates": (Aggregate("sum", "Customer"),)}, "table_no_numbers"),
        ({"aggregates": (SUM,), "sort_by": "Note"}, "table_sort"),
    ],
)
def test_a_question_that_does_not_fit_says_why(asker: Asker, query: dict[str, Any], code: str) -> None:
    found = query_table(TableQuery(**query), asker.path, "t.csv", "")

    assert isinstance(found, Refusal)
    assert found.code == code


def test_a_table_over_the_limits_is_refused(asker: Asker) -> None:
    asker.text("a,b\n" + "1,2\n" * 200_001)

    assert asker.refused().code == "table_too_large"


def test_many_rows_are_answered_in_time(asker: Asker) -> None:
    rows = (f'2026-{row % 12 + 1:02}-01,"1,{row % 900 + 100}.25"' for row in range(5_000))
    asker.text("\n".join(["Day,Amount", *rows]))

    answer = asker.answer(SUM, Aggregate("count"), group_by=("Day",), date_unit="month")

    assert sum(int(row[2] or 0) for row in values(answer)) == 5_000
    assert len(answer.rows[0].cells) == 1


def test_each_different_cell_of_the_named_columns_is_read_once_and_no_others(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (f"{row},{row % 50}.5,2026-11-05" for row in range(20_000))
    asker.text("\n".join(["No,Amount,Day", *rows]))
    read: list[str] = []

    def noting(cell: str) -> Any:
        read.append(cell)
        return readings(cell)

    monkeypatch.setattr(columns, "readings", noting)
    assert values(asker.answer(SUM)) == [("500000.0",)]
    assert len(read) < 5_000


def test_an_open_quotation_mark_does_not_swallow_the_rows_after_it(asker: Asker) -> None:
    assert asker.text('Item,Amount\na,10\n"b,20\nc,30\n').refused(SUM).code == "table_damaged"
    assert values(asker.text('Item,Amount\n5" pipe,10\n"c\nd",30').answer(SUM)) == [("40",)]


def test_rows_with_cells_beyond_the_header_are_refused_or_left_out_and_named(asker: Asker) -> None:
    asker.text("Item,Amount\na,1,200\nb,300\nc,5,\n")
    refusal, answer = asker.refused(SUM), asker.answer(SUM, skip_unreadable=True)

    assert (refusal.code, refusal.details["unreadable"]) == (
        "table_ragged",
        [{"cell": "line=2", "text": "a | 1 | 200"}],
    )
    assert (values(answer), answer.unreadable) == ([("305",)], (CellText("line=2", "a | 1 | 200"),))
    assert values(asker.answer())[0] == ("a", "1", "200")


def test_a_share_is_not_put_together_with_a_plain_number(asker: Asker) -> None:
    assert asker.column("50%", "0.5").refused(SUM).params["units"] == "-, %"
    over = Condition("Amount", ">", ("50%",))
    assert asker.column("0.7", "0.2").refused(filters=(over,)).code == "table_units"
    assert asker.column("70%", "20%").answer(filters=(over,)).matched_rows == 1
    assert asker.column("€70", "€20").refused(filters=(Condition("Amount", ">", ("$50",)),)).code == "table_units"
    assert values(asker.column("$5", "6").answer(SUM)) == [("11",)]


def test_a_name_that_also_means_nothing_is_a_name_among_words(asker: Asker) -> None:
    asker.text("Region,Amount\nNA,1\nEMEA,2\nna,n/a\n-,4\n")

    assert values(asker.answer(SUM, filters=(Condition("Region", "=", ("NA",)),))) == [("1",)]
    assert values(asker.answer(SUM, group_by=("Region",))) == [("NA", "1"), ("EMEA", "2"), (None, "4")]


def test_equal_numbers_are_one_group_and_codes_with_zeros_before_them_are_others(asker: Asker) -> None:
    asker.text('Code,Amount\n007,1\n7,2\n"1,000",3\n1000,4\n0.5,5\n.5,6\n')

    groups = values(asker.answer(SUM, group_by=("Code",)))
    assert groups == [("007", "1"), ("7", "2"), ("1,000", "7"), ("0.5", "11")]


def test_more_digits_than_are_exact_are_refused(asker: Asker) -> None:
    assert asker.column("123456789012345678.123456789012345678", "1").refused(SUM).code == "table_unreadable"


@pytest.mark.parametrize(
    "cell",
    ["2026-11-05T23:30:00Z", "2026-11-05T23:30:00.125+08:00", "11/15/2026 12:05 AM", "11/15/2026, 3:04:05\u202fPM"],
)
def test_times_are_read_as_programs_write_them(asker: Asker, cell: str) -> None:
    asker.text(f'Day,Amount\n"{cell}",1\n2026-12-01,2\n')

    assert values(asker.answer(SUM, filters=(Condition("Day", "=", ("2026-11",)),))) == [("1",)]


def test_a_small_table_leaves_large_cells_to_everybody_else(asker: Asker) -> None:
    before = csv.field_size_limit()
    asker.column("5").answer(SUM)
    assert csv.field_size_limit() >= before
