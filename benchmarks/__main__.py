"""`python -m benchmarks`: every measurement that needs nothing but this repository, as tables."""

import platform

from benchmarks import importing, mcp_tools, requests, servers, start, store
from benchmarks.agent import crowd, doors, first_token, prompts, routing, tool_call, turns
from benchmarks.search import extraction, pages


def main() -> None:
    """Say where, then measure."""
    print(f"{platform.platform()}, Python {platform.python_version()}")
    turns.main([])
    first_token.main([])
    doors.main([])
    crowd.main([])
    tool_call.main()
    requests.main([])
    mcp_tools.main([])
    store.main()
    importing.main()
    routing.main()
    prompts.main([])
    extraction.main([])
    pages.main([])
    servers.main([])
    start.main([])


if __name__ == "__main__":
    main()
