"""`python -m benchmarks`: every measurement that needs nothing but this repository, as tables."""

import platform

from benchmarks import importing, store, tool_call, turn


def main() -> None:
    """Say where, then measure."""
    print(f"{platform.platform()}, Python {platform.python_version()}")
    turn.main()
    tool_call.main()
    store.main()
    importing.main()


if __name__ == "__main__":
    main()
