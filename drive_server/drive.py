"""An open drive, as HTTP and the assistant get it: its services, and the MCP server over them."""

from dataclasses import dataclass, field

from drive_server.kernel.access import Principal, require_admin
from drive_server.mcp.server import DriveServer
from drive_server.registry import ServiceRegistry
from drive_server.services.measures import Measures, read_measures


@dataclass(slots=True, eq=False)
class Drive(ServiceRegistry):
    """The services of one drive and their MCP server, one for all transports of this process; it is built last."""

    server: DriveServer = field(init=False)

    async def measures(self, caller: Principal) -> Measures:
        """Return numbers about the whole drive. Only for administrators: raises `ForbiddenError` for others."""
        require_admin(caller)
        return await self.database.read_sync(read_measures)
