"""Access for others: shares with people, links with their terms and visits.

May import `services.files` and `services.journal`.
"""
