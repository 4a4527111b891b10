"""The footers of Parquet files that are appended to each other become one."""

import io

import pyarrow
from pyarrow import parquet

from opilio.store.corpus.parquet_footer import FooterReader, joined_footer

MAGIC = b"PAR1"


def file_of(table: pyarrow.Table) -> tuple[bytes, bytes]:
    """The pages and the footer of a Parquet file."""
    made = io.BytesIO()
    parquet.write_table(table, made, compression="zstd")
    data = made.getvalue()
    length = int.from_bytes(data[-8:-4], "little")
    return data[4 : -8 - length], data[-8 - length : -8]


def table(start: int, rows: int) -> pyarrow.Table:
    """Numbers, texts, lists, structs, truths and what is missing."""
    numbers = range(start, start + rows)
    return pyarrow.table(
        {
            "number": list(numbers),
            "text": [f"text {n % 3}" if n % 5 else None for n in numbers],
            "lists": [[str(n)] * (n % 4) for n in numbers],
            "pairs": [[{"name": "n", "value": n / 7}] for n in numbers],
            "true": [n % 2 == 0 for n in numbers],
        }
    )


def test_one_footer_stays_as_it_is():
    _, footer = file_of(table(0, 50))
    assert joined_footer([(footer, 0)]) == footer
    assert FooterReader(footer).struct()[3][1] == 50


def test_the_groups_of_many_files_are_found_in_one():
    parts = [table(start, 30 + start) for start in (0, 1000, 5, 70_000)]
    data, footers = MAGIC, []
    for part in parts:
        pages, footer = file_of(part)
        footers.append((footer, len(data) - len(MAGIC)))
        data += pages
    footer = joined_footer(footers)
    data += footer + len(footer).to_bytes(4, "little") + MAGIC
    whole = parquet.ParquetFile(io.BytesIO(data))
    assert whole.num_row_groups == 4
    assert whole.read().equals(pyarrow.concat_tables(parts))
    assert whole.read_row_group(3).equals(parts[3])
    assert whole.metadata.row_group(3).column(0).statistics.min == 70_000
