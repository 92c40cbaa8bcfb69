"""The installed command, with all modules of the service loaded before it begins."""

from __future__ import annotations

import api.app
import api.cli.service.local_service
import api.cli.service.serve
from api.cli import main

__all__ = ["api", "main"]
