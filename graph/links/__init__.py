"""The links and images that may leave: where they may lead, and in which texts they are looked for.

Imports nothing else of `graph`.
"""
