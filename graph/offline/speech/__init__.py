"""What the offline model says, in English and Chinese."""
