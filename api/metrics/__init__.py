"""Metrics of the service: what it counts while it works, and what it looks up for each scrape."""
