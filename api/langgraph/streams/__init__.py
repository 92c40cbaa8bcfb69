"""Event streams in LangGraph's formats, made of a run's stored and filtered events. May import `threads` and below."""
