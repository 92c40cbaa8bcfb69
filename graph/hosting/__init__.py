"""The login of `langgraph dev`, the host of the graph that is no service of ours.

May import `build` and below.
"""
