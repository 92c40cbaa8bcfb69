"""Headers: of requests for bytes, of resumable uploads, of every response. Imports nothing else of `http`."""
