"""Tools that make the packaged models and the table of characters, each with its file's README beside the file."""
