"""LanceDB is loaded with as little as it needs."""

import subprocess
import sys

WRITES = """
import sys, tempfile
import anyio
from drive_server.knowledge.index.lance import Lance

async def write(folder):
    import pyarrow
    lance = Lance(folder)
    table = await lance.create("some", pyarrow.schema([("file_id", pyarrow.string())]))
    rows = pyarrow.table({"file_id": ["a", "b"]})
    await table.add(rows)
    await table.merge_insert("file_id").when_matched_update_all().execute(rows)
    found = await table.query().limit(10).to_arrow()
    lance.close()
    return found["file_id"].to_pylist()

with tempfile.TemporaryDirectory() as folder:
    found = anyio.run(write, folder)
LOADED = "pandas" in sys.modules
import pandas
print(sorted(found), LOADED, pandas.Series(found).tolist() == found)
"""


def test_lancedb_works_without_pandas_which_others_may_load_all_the_same() -> None:
    shown = subprocess.run([sys.executable, "-c", WRITES], check=True, capture_output=True, text=True).stdout

    assert shown == "['a', 'b'] False True\n"
