"""Embedding models: the packaged one, a service's, or none. May import `knowledge.text`."""
