"""The identity of an installation, which its database, contents, index and further parts have in common.

Beside it stands the record of the service that works on a data directory.

Imports tables and the database of `storage`, nothing of the services.
"""
