"""`drive-agent import`: a folder of this computer goes into the drive."""
