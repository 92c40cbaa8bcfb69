"""The drive's tables, one module a noun. Ids are UUID hex strings; times are UTC. May import `kernel.sql`."""
