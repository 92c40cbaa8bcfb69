"""Keeps the index up to date with the drive. May import all of `knowledge`."""
