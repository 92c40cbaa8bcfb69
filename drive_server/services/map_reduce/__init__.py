"""Many files read by a language model, each for itself, and one answer made of theirs.

May import `services.documents` and `services.search`.
"""
