"""What turns, threads and requests of the assistant cost, and how well it routes them."""
