"""The packaged embedding model, and the script that made it."""
