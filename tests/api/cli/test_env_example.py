import re
from pathlib import Path

from pydantic import AliasChoices
from pydantic_settings import BaseSettings

from api.cli.service.connection import CliSettings
from drive_server.kernel.settings import DriveSettings
from graph.settings import AgentSettings

EXAMPLE = Path(__file__).parents[3] / ".env.example"


def names_of(settings: type[BaseSettings]) -> set[str]:
    prefix = settings.model_config.get("env_prefix", "")
    names: set[str] = set()
    for name, field in settings.model_fields.items():
        alias = field.validation_alias
        names.add(str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"{prefix}{name}".upper())
    return names


def test_the_example_has_every_setting_and_no_other() -> None:
    shown = set(re.findall(r"^#([A-Z_]+)=", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    assert shown == names_of(DriveSettings) | names_of(AgentSettings) | names_of(CliSettings)


def test_the_example_shows_the_defaults() -> None:
    shown = dict(re.findall(r"^#([A-Z_]+)=(.*)$", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    for prefix, settings in (("DRIVE_", DriveSettings), ("AGENT_", AgentSettings), ("DRIVE_AGENT_", CliSettings)):
        for name, field in settings.model_fields.items():
            value = shown.get(f"{prefix}{name}".upper())
            if value:
                default = str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
                assert value == default, name
