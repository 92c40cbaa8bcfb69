"""Tiers of tools: hosts are shown a core in few words, the rest when they ask for it, or all at once."""
