"""A step over each file of a folder, and the whole of it. May import the rest of `planning`'s imports."""
