"""Sign-in to remote servers by OAuth, through the SDK's client: people start and finish it, connections use its tokens.

May import `addresses`, `definition`, `faults`, `intake` and `reasons` of the folder above.
"""
