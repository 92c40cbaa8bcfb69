"""The service on a fresh drive, served from a thread of this process."""

import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn

from api.app import create_app
from drive_server.settings import DriveSettings
from graph.settings import AgentSettings

REQUEST_SECONDS = 600


@contextmanager
def serving(agent: AgentSettings) -> Generator[httpx.Client]:
    """Serve until the end of the block; yields a client with the owner's token."""
    with tempfile.TemporaryDirectory() as root:
        settings = DriveSettings(data_dir=Path(root), embedding_model="none")
        server = uvicorn.Server(uvicorn.Config(create_app(settings, agent), port=0, log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the service did not start")
            time.sleep(0.01)
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        headers = {"Authorization": f"Bearer {settings.token_path.read_text().strip()}"}
        with httpx.Client(base_url=url, headers=headers, timeout=REQUEST_SECONDS, trust_env=False) as client:
            yield client
        server.should_exit = True
        thread.join()
