"""`drive-agent export`, and `import` of what it made: a whole drive as files, and back."""
