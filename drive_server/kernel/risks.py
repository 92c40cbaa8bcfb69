"""The kinds of tools, their levels of risk, and whether a person is asked before a call: one table for every gate."""

from collections.abc import Mapping
from typing import Final, Literal

Kind = Literal["query", "read", "write", "removal", "network", "execution"]
"""query: asks about the drive. read: shows contents. write: changes it, and can be undone. removal: takes things away.
network: reaches people outside of the drive. execution: makes other actions happen, or changes who acts."""
Risk = Literal["low", "medium", "high"]
Asks = Literal["always", "when_shared", "never"]
"""The calls before which the person is asked. when_shared: those that change items that others see, or come to see."""

ASKS: Final[Mapping[tuple[Kind, Risk], Asks]] = {
    ("query", "low"): "never",
    ("query", "medium"): "never",
    ("query", "high"): "always",
    ("read", "low"): "never",
    ("read", "medium"): "never",
    ("read", "high"): "always",
    ("write", "low"): "when_shared",
    ("write", "medium"): "when_shared",
    ("write", "high"): "always",
    ("removal", "low"): "always",
    ("removal", "medium"): "always",
    ("removal", "high"): "always",
    ("network", "low"): "always",
    ("network", "medium"): "always",
    ("network", "high"): "always",
    ("execution", "low"): "never",
    ("execution", "medium"): "always",
    # Signing in: the session has no person yet, and the assistant never does it.
    ("execution", "high"): "never",
}
"""Whether a host asks its person before a call. So does the assistant in a tainted thread."""
