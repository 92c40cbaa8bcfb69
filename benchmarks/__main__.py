"""`python -m benchmarks`: every measurement that needs nothing but this repository, as tables."""

import platform

from benchmarks import extraction, importing, routing, store, tool_call, turn


def main() -> None:
    """Say where, then measure."""
    print(f"{platform.platform()}, Python {platform.python_version()}")
    turn.main()
    tool_call.main()
    store.main()
    importing.main()
    routing.main()
    extraction.main([])


if __name__ == "__main__":
    main()
