"""How well files and names are found and read, and how fast."""
