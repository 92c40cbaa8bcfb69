"""The routes below `/api`, one module a resource; they do not import each other."""
