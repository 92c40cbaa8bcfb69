"""Runs of LangGraph's clients: stretches of our own runs, begun, answered, followed and stopped.

May import `streams` and below.
"""
