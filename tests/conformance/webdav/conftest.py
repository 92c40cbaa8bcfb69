from tests.drive_server.conftest import drive_settings

__all__ = ["drive_settings"]
