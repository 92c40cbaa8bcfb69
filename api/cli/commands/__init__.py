"""The short commands, one module a noun."""
