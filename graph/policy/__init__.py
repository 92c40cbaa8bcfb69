"""The policy: calls that run, ask or never run. Pure; may import `state` and `language`."""
