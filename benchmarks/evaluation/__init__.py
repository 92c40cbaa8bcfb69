"""Eighty tasks in two languages on a real model, scored by what became of the drive: `make eval`."""
