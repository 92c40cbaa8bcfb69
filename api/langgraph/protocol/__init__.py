"""LangGraph's second protocol: commands to a thread, and the events of all its runs. May import `runs` and below."""
