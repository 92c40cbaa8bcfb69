"""Questions to a table in a file, as `query_table` asks them, and DuckDB on the same file: seconds of CPU, medians.

    python -m benchmarks.search.tables [--rows 199000] [--runs 3]

Ours reads amounts as people write them, dates in any form, and names the cells; DuckDB is given the forms.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import duckdb

from benchmarks.fixtures.table import print_table
from drive_server.knowledge.tables.query import query_table
from drive_server.knowledge.tables.request import Aggregate, Condition, TableAnswer, TableQuery

SUM = Aggregate("sum", "Amount")
AMOUNT = "CAST(replace(replace(Amount, '$', ''), ',', '') AS DECIMAL(38, 2))"
QUESTIONS = {
    "first rows": (TableQuery(), "SELECT * FROM {file} LIMIT 50"),
    "sum": (TableQuery(aggregates=(SUM,)), "SELECT sum({amount}) FROM {file}"),
    "sum by customer": (
        TableQuery(aggregates=(SUM,), group_by=("Customer",)),
        "SELECT Customer, sum({amount}) FROM {file} GROUP BY 1",
    ),
    "sum by month": (
        TableQuery(aggregates=(SUM,), group_by=("Date",), date_unit="month"),
        "SELECT Date[:7], sum({amount}) FROM {file} GROUP BY 1",
    ),
    "filter and order": (
        TableQuery(filters=(Condition("Amount", ">", ("50000",)),), sort_by="Price"),
        "SELECT * FROM {file} WHERE {amount} > 50000 ORDER BY CAST(Price AS DECIMAL(38, 2))",
    ),
}


def write_table(path: Path, rows: int) -> None:
    """Write ten columns, most of whose cells differ."""
    pick = random.Random(1).randint  # noqa: S311 - the same table each time
    with path.open("w") as file:
        file.write("Id,Date,Customer,Amount,Qty,Price,Note,City,Tax,Due\n")
        for number in range(rows):
            amount, price = f"${pick(1, 9_999_999) / 100:,.2f}", pick(1, 99_999) / 100
            file.write(
                f"{number},2026-{pick(1, 12):02}-{pick(1, 28):02},Customer {pick(1, 5_000)},"
                f'"{amount}",{pick(1, 100)},{price:.2f},note {pick(1, 10**7)},City {pick(1, 300)},'
                f"{pick(0, 25)}%,{pick(1, 28)}.{pick(1, 12)}.2026\n"
            )


def seconds_of(work: Callable[[], object], runs: int) -> float:
    """Return the median of the CPU seconds after one run that loads what is needed."""
    taken: list[float] = []
    for _ in range(runs + 1):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return median(taken[1:])


def ours(path: Path, query: TableQuery) -> None:
    """Ask as the tool does, without its process; it must be answered."""
    assert isinstance(query_table(query, path, path.name, ""), TableAnswer)


def bare(path: Path, statement: str) -> None:
    """Ask DuckDB, with one thread as ours has."""
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET threads = 1")
        connection.execute(statement.format(file=f"read_csv('{path}', all_varchar = true)", amount=AMOUNT)).fetchall()


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the file and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=199_000, help="of the file (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="of each question (default: %(default)s)")
    parsed = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, parsed.rows)
        rows = [
            [
                name,
                f"{seconds_of(lambda query=query: ours(path, query), parsed.runs):.2f}",
                f"{seconds_of(lambda statement=statement: bare(path, statement), parsed.runs):.2f}",
            ]
            for name, (query, statement) in QUESTIONS.items()
        ]
        print_table(f"Questions to a table of {parsed.rows:,} rows, CPU seconds", ("question", "ours", "DuckDB"), rows)


if __name__ == "__main__":
    main()
