"""What runs, what asks and what never runs. Pure; may import `state` and `language`."""
