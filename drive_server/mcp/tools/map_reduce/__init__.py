"""Many files read by a language model: the tools, their arguments and their answers. May import `tools.definition`."""
