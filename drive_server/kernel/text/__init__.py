"""Characters and sentences of texts, in any script."""
