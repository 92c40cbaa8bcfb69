"""The packages that are installed: locked with their hashes, verified, and looked up among known advisories."""
