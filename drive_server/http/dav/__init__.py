"""WebDAV (RFC 4918, classes 1 to 3) at `/dav`, and below links for guests: wsgidav's request server over the services.

May import everything of `drive_server.http` but other pages and protocols.
"""
