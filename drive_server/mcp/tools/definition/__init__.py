"""The parts of a tool beside its code: its record, its arguments and their checks, the texts beside its results."""
