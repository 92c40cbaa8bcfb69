"""Runs: started, executed, stopped, taken up again, audited. May import `approvals`, `events`, `threads`, `storage`."""
