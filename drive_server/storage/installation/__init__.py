"""The identity of an installation, which its database, contents, index and further parts have in common.

Imports tables and the database of `storage`, nothing of the services.
"""
