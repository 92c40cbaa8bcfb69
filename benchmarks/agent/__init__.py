"""Measure the assistant: the cost of turns, threads and requests, and the quality of its routing."""
