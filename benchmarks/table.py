"""How results are printed: one row each, medians."""

from collections.abc import Sequence
from statistics import median


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print an aligned table; the first column is text, the others are numbers."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    print(f"\n{title}\n")
    for row in [header, ["-" * width for width in widths], *rows]:
        first, *others = (
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *others]))


def milliseconds(seconds: Sequence[float]) -> str:
    """Return the median in milliseconds."""
    return f"{median(seconds) * 1000:.2f}"
