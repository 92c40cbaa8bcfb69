"""The memory of a thread and of a person: summaries, facts, the model's view.

May import `drive`, `limits`, `messages`, `models`.
"""
