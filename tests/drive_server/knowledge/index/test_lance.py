"""LanceDB is loaded without the parts that no index here uses."""

import subprocess
import sys

LOADED = """
import sys
import anyio
from drive_server.knowledge.index.lance import REST_PACKAGE, Lance

async def main():
    lance = Lance(sys.argv[1])
    import pyarrow as pa
    await lance.create("passages", pa.schema([pa.field("text", pa.string())]))
    print(*await lance.names(), sum(name.startswith(REST_PACKAGE + ".api") for name in sys.modules))

anyio.run(main)
"""


def test_clients_of_rest_services_are_not_loaded(tmp_path: object) -> None:
    command = [sys.executable, "-c", LOADED, f"{tmp_path}/index"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == ["passages", "0"]
