"""The routes, one module a resource; they do not import each other."""
