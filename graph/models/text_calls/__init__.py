"""Tool calls that a model wrote into its text: their beginnings, their tools and arguments."""
