"""The events of runs, stored and then sent. May import `storage`."""
