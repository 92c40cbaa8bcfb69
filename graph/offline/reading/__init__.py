"""What the messages of a conversation tell, read back into data."""
