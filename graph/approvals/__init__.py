"""Calls judged, shown to the person, decided and run. May import `agents`, `tools`, `citations`, `policy`, `limits`."""
