"""Proofs of who somebody is: their strength and age, the browsers that showed one, and what is revoked with them."""
