"""`drive-agent export`, and `import` of its files: a whole drive as files, and back."""
