"""How a connection of its own proves who it is: as the bus's connection does."""

import base64
import importlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import ParseResult

_JWT: Final = "BEGIN NATS USER JWT"
_SEED: Final = "BEGIN USER NKEY SEED"


@dataclass(frozen=True)
class Login:
    """Who connects; what is missing here may stand in the server's address."""

    name: str = "kernelmill"
    """Name of the connection, for people who look at the server."""
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    credentials: Path | None = None
    """File with a JWT and the seed of its key."""

    def connect_line(self, server: ParseResult, info: dict[str, Any]) -> bytes:
        """Return the line that answers a server's greeting.

        Args:
            server: its address, which may carry a user and password, or a token in place of the user.
            info: its greeting.

        Raises:
            OSError: the file of credentials cannot be read.
            ValueError: the file of credentials lacks a part.
        """
        options: dict[str, Any] = {
            "verbose": False,
            "pedantic": False,
            "lang": "python3",
            "version": "kernelmill",
            "protocol": 1,
            "headers": True,
            "no_responders": True,
            "echo": False,
            "name": self.name,
        }
        if self.credentials is not None and "nonce" in info:
            text = self.credentials.read_text()
            options |= {"jwt": _block(text, _JWT), "sig": _signature(_block(text, _SEED), info["nonce"])}
        elif self.user is not None and self.password is not None:
            options |= {"user": self.user, "pass": self.password}
        elif server.username is not None and server.password is not None:
            options |= {"user": server.username, "pass": server.password}
        elif server.username is not None:
            options["auth_token"] = server.username
        return b"CONNECT " + json.dumps(options).encode() + b"\r\n"


def _block(text: str, title: str) -> str:
    """Return the line after a title in a file of credentials."""
    lines = text.splitlines()
    for number, line in enumerate(lines[:-1]):
        if title in line:
            return lines[number + 1].strip()
    raise ValueError(f"the file of credentials has no part '{title}'; get a new one from who runs the server")


def _signature(seed: str, nonce: str) -> str:
    # nats-py needs this package for the same file and names it as an extra: it is there whenever this code is reached.
    pair = importlib.import_module("nkeys").from_seed(seed.encode())
    try:
        return base64.b64encode(pair.sign(nonce.encode())).decode()
    finally:
        pair.wipe()
