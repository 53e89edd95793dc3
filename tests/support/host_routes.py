"""The routes of the hosts' API as its function has them: whoever adds one adds it to the tests that go through all."""

import importlib
from dataclasses import dataclass

import pytest

from tests.support.gateway import ENVIRONMENT, forget_settings
from turnkeeper import settings


@dataclass(frozen=True)
class HostRoute:
    """A method and a path; the path has `{task_id}`, `{name}` or `{child_id}` where it names one."""

    method: str
    path: str

    @property
    def last(self) -> str:
        """What the path ends with."""
        return self.path.rpartition("/")[2]

    def of(self, *, task: str, agent: str) -> str:
        """The path to this *task* or this *agent*, and to a child that there is not."""
        return self.path.format(task_id=task, name=agent, child_id="0" * 32)


def host_routes() -> list[HostRoute]:
    """Every route there is."""
    return handler_routes("host")


def handler_routes(function: str) -> list[HostRoute]:
    """Every route that the resolver of *function* has."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        for name in ("TURNKEEPER_TABLE", "TURNKEEPER_QUEUE_URL", "TURNKEEPER_BUCKET"):
            patch.setenv(name, "not used")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        app = importlib.import_module(f"functions.{function}.handler").app
    # What the import read is of no use to anybody, and moto knows nothing of a session that was made before it.
    forget_settings()
    settings.session.cache_clear()
    paths = app.get_openapi_schema().paths or {}
    return [
        HostRoute(method.upper(), path.removeprefix("/"))
        for path, item in paths.items()
        for method in sorted(item.model_fields_set)
    ]
