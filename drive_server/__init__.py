"""The drive: files, folders, versions, shares, search and the journal, served over MCP and HTTP.

Imports neither `graph` nor `api`.
"""
