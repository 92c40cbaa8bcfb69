"""Bytes of unfinished uploads: files in a folder, or objects beside the contents. Imports from `storage` only."""
