"""The events of runs: written first, then sent. May import `storage`."""
