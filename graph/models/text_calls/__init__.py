"""Tool calls that a model wrote into its text: where they begin, and what they call."""
