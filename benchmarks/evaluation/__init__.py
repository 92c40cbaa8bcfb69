"""Tasks in two languages on a real model, scored by what became of the drive and by cited answers: `make eval`."""
