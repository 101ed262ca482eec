"""Secrets on JetStream: a key-value bucket in which a key is created once and then only read."""

from contextlib import suppress

from nats.aio.client import Client
from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError

from kernelmill.bus.errors import SecretMissingError
from kernelmill.bus.jetstream.provision import SECRETS_BUCKET


class JetStreamSecrets:
    """A `Secrets` on a server."""

    def __init__(self, client: Client) -> None:
        self._js = client.jetstream(timeout=10.0)

    async def create(self, name: str, value: bytes) -> bytes:
        """Store the value unless the name is taken; see `Secrets.create`."""
        bucket = await self._js.key_value(SECRETS_BUCKET)
        with suppress(KeyWrongLastSequenceError):
            await bucket.create(name, value)
        return await self.read(name)

    async def read(self, name: str) -> bytes:
        """Return the stored secret; see `Secrets.read`."""
        bucket = await self._js.key_value(SECRETS_BUCKET)
        try:
            entry = await bucket.get(name)
        except KeyNotFoundError:
            raise SecretMissingError(f"no secret '{name}' is stored; a campaign that needs it is void") from None
        return entry.value or b""
