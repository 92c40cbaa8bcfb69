"""Plans: made, checked, agreed, carried out step by step.

May import `agents`, `approvals`, `routing`, `policy`, `limits` and `models`.
"""
