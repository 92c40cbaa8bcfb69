"""Text inside a content: bounds, excerpts, quotations, addresses of passages. Imports no other service."""
