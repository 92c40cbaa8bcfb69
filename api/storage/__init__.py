"""The service's own database, and where threads are stored. Imports nothing else of `api` but `clock` and `errors`."""
