"""The typed events of a run. Each class defines one: its type, its fields, and how it reaches clients.

Text passes the link filter unless its type says that the product made it or that it is data (`graph.links`). `KEY` is
the field of which a run sends each value once, `FINAL` the type after which the run sends nothing. The filter, the
replay, the OpenAPI schema and the test of docs/HTTP.md read these classes; a class counts once it is in `GraphEvent`
(the graph emits it) or `Event` (the service does). May import `state` and `links`.
"""
