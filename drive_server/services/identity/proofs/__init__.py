"""Proofs of who somebody is: how strong and how fresh they are, which browsers showed one, and what their end ends."""
