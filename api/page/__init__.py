"""The page: its files as they are sent, and which of them the first view needs. Imports nothing else of `api`."""
