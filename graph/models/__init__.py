"""Chat models by role, and the seam at which their failures become ours. May import `limits`, `events`, `errors`."""
