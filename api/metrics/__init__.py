"""Metrics of the service: counters that grow while it works, and gauges that each scrape looks up."""
