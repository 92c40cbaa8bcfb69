"""Sign-ins and keys as proofs of an identity: their strength and age, the browsers that signed in, and revocation."""
