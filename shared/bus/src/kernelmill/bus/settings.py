"""Settings of a service, from the environment."""

import os
import socket
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from kernelmill.identity import Token


def _host_token() -> str:
    name = "".join(c if c.isalnum() and c.isascii() else "-" for c in socket.gethostname()).strip("-")
    return name[:64] or "localhost"


class ServiceSettings(BaseSettings):
    """Settings that all services share; each comes from an environment variable `KERNELMILL_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="KERNELMILL_", extra="ignore", use_attribute_docstrings=True)

    nats_url: str = "nats://127.0.0.1:4222"
    """Address of the NATS server, or several separated by commas."""
    nats_user: str | None = None
    """User of the server's account; None where it asks for none."""
    nats_password_file: Path | None = None
    """File (mode 0600) with the password of that user."""
    nats_credentials: Path | None = None
    """File with a JWT and its key, on a cluster with decentralised accounts."""
    data: Path = Path(".kernelmill")
    """Folder of caches, logs and the embedded server."""
    instance: Token = Field(default_factory=lambda: f"{_host_token()}-{os.getpid()}")
    """Name of this process among those of its role."""
    node: Token = Field(default_factory=_host_token)
    """Name of the node whose device the process uses."""
    targets: Annotated[tuple[Token, ...], NoDecode] = ("cpu",)
    """Targets that the process serves, separated by commas."""
    slots: int = Field(default=1, ge=1)
    """How many deliveries each worker of the process handles at once."""
    replicas: int = Field(default=1, ge=1, le=5)
    """Copies of the log that a cluster keeps; 1 on a single server."""
    ack_wait: float = Field(default=30.0, gt=0)
    """Seconds after which the work of a silent worker is given to another one."""
    shutdown_grace: float = Field(default=20.0, ge=0)
    """Seconds that work in hand gets to finish after SIGTERM; then it is returned."""

    @field_validator("targets", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    def servers(self) -> list[str]:
        """Return the server addresses as a list."""
        return [part.strip() for part in self.nats_url.split(",") if part.strip()]

    def password(self) -> str | None:
        """Return the password of the user, None where no file is named."""
        return None if self.nats_password_file is None else self.nats_password_file.read_text().strip()
