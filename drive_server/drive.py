"""An open drive, as HTTP and the assistant get it: its services, and the MCP server over them."""

from dataclasses import dataclass, field

from drive_server.mcp.server import DriveServer
from drive_server.registry import ServiceRegistry


@dataclass(slots=True, eq=False)
class Drive(ServiceRegistry):
    """The services of one drive and their MCP server, one for all transports of this process; it is built last."""

    server: DriveServer = field(init=False)
