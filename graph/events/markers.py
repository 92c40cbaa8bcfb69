"""Markers of fields that say how an event reaches clients."""

from typing import Final

from graph.links.text_fields import Marker

KEY: Final = Marker("key")
"""Marks the field that a run sends each value of once: a replay drops the second event."""
FINAL: Final = Marker("final")
"""Marks the type of a run's last event."""
