"""Results of the services: plain values, without database session or protocol. May import `kernel`."""
