"""How each kind of request is carried out: short scripts over the drive's tools."""
