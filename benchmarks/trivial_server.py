"""The least that an MCP tool can be, as the SDK's own documentation has it: what the transports themselves cost.

python -m benchmarks.trivial_server stdio
python -m benchmarks.trivial_server http PORT
"""

import sys

import uvicorn
from mcp.server.fastmcp import FastMCP

TEXT = "A line of about forty characters, again.\n" * 2500

server: FastMCP[None] = FastMCP("trivial", log_level="ERROR")


@server.tool()
async def answer(characters: int, content: str = "") -> str:
    """Answer so many characters, whatever is said."""
    del content
    return TEXT[:characters]


def main(arguments: list[str]) -> None:
    if arguments[0] == "http":
        app = server.streamable_http_app()
        uvicorn.run(app, port=int(arguments[1]), log_config=None, access_log=False, timeout_keep_alive=75)
    else:
        server.run()


if __name__ == "__main__":
    main(sys.argv[1:])
