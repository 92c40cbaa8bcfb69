"""Threads and their states as LangGraph's clients see them. May import `assistants` and `entrance`."""
