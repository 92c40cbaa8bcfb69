"""Short scripts for each kind of request, over the drive's tools."""
