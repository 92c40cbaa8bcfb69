"""One connection to a server: opened over its transport, a program run within limits, calls sent and followed.

It may import of `servers` all but `pool` and `offered`.
"""
