"""Files of this machine: written durably, locked, and named so that every system takes the name."""
