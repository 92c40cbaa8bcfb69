"""`drive-agent backup` and `restore`: the data directory of this machine, also while the service runs."""
