"""`drive-agent chat`: a conversation in a terminal."""
