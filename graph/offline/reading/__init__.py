"""The messages of a conversation, read back into data."""
