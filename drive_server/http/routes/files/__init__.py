"""Routes about the bytes of files: contents, versions, uploads, thumbnails, zip archives."""
