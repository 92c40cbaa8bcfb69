"""The assistants of a person, as LangGraph's clients see them: to read, not to write. May import `entrance`."""
