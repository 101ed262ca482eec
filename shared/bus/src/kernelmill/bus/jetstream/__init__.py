"""The bus on a real nats-server: log, blobs and secrets on JetStream."""

from kernelmill.bus.jetstream.blobs import JetStreamBlobs
from kernelmill.bus.jetstream.log import JetStreamLog
from kernelmill.bus.jetstream.provision import provision, provision_worker
from kernelmill.bus.jetstream.secrets import JetStreamSecrets

__all__ = ["JetStreamBlobs", "JetStreamLog", "JetStreamSecrets", "provision", "provision_worker"]
