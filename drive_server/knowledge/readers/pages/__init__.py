"""Readers of laid-out pages and images, with OCR. May import `knowledge.text`."""
