"""Questions of a person's MCP servers (elicitation), and the calls that wait for the answers.

It may import `pins`, and nothing that opens a connection.
"""
