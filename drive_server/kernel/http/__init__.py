"""HTTP, as the drive and the service speak it: problem+json, languages, keys in requests, event streams."""
