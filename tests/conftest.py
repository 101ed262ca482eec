"""Options and fixtures that all tests share."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import nats
import pytest
from nats.js.errors import NotFoundError

from kernelmill.bus.jetstream.provision import BLOB_STREAM, DEAD_STREAM, LOG_STREAM, SECRETS_BUCKET
from kernelmill.bus.server import EmbeddedServer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nats",
        default="embedded",
        help="server of the bus tests: embedded (default), container (needs a docker engine), or the URL of a server"
        " for tests only, from which everything of Kernelmill is deleted before each test",
    )


@pytest.fixture(scope="session")
def container_url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.config.getoption("--nats") != "container":
        yield None
        return
    from testcontainers.core.container import DockerContainer  # noqa: PLC0415 - only where it is asked for
    from testcontainers.core.waiting_utils import wait_for_logs  # noqa: PLC0415

    with DockerContainer("nats:2.12").with_command("-js").with_exposed_ports(4222) as container:
        wait_for_logs(container, "Server is ready")
        yield f"nats://{container.get_container_host_ip()}:{container.get_exposed_port(4222)}"


@pytest.fixture
async def nats_url(request: pytest.FixtureRequest, tmp_path: Path, container_url: str | None) -> AsyncIterator[str]:
    chosen = request.config.getoption("--nats")
    if chosen == "container":
        assert container_url is not None
        await forget(container_url)
        yield container_url
    elif chosen == "embedded":
        server = EmbeddedServer(tmp_path)
        await server.start()
        yield server.url
        await server.stop()
    else:
        await forget(chosen)
        yield chosen


async def forget(url: str) -> None:
    """Delete what a test before left on a server that outlives it."""
    client = await nats.connect(url)
    try:
        for name in (LOG_STREAM, BLOB_STREAM, DEAD_STREAM, f"KV_{SECRETS_BUCKET}"):
            with suppress(NotFoundError):
                await client.jetstream().delete_stream(name)
    finally:
        await client.close()


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    """A server that the test may kill and start again."""
    server = EmbeddedServer(tmp_path)
    await server.start()
    yield server
    await server.stop()
