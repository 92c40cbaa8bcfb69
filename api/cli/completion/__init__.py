"""`drive-agent completion`: what shells complete, told by the parsers, and by the drive where its items are named."""
