"""Where the service keeps things. May import the settings of the graph, and nothing of `api` beside `api.storage.secure_delete`."""
