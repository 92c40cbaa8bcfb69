"""The page: its files, its words, its logic on node, and its stories in a browser."""
