"""The service: REST and SSE over the graph, and the command line.

May import `graph` and `drive_server.kernel`; the rest of the drive where a contract names it.
"""
