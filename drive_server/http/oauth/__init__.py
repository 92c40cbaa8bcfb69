"""The service as an OAuth authorization server for MCP hosts: consent, tokens, registration, revocation.

May import pages, and the services of programs.
"""
