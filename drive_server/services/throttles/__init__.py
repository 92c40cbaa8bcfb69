"""Limits of wrong attempts: counted in the process of an embedded drive, in a table if several processes share one.

Imports from `storage`, and of no other service.
"""
