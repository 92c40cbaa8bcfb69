"""The service: REST and SSE over the graph, and the command line.

May import `graph`; `drive_server` where a contract names it.
"""
