"""Pairs of traditional and simplified characters, and the script that made them."""
