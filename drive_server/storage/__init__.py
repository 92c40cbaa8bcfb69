"""The drive's tables, the blobs and the files beside them. Imports no service and no protocol."""
