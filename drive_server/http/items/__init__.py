"""Items over HTTP, for all routes: named in paths, as answers, their bytes, and the conditions of writes.

May import `http.headers`, `http.access` and `kernel.http`.
"""
