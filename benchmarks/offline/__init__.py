"""Requests in people's words to the built-in model, judged by its answers and by the calls that it proposed."""
