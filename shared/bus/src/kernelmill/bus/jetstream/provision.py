"""Creates what the bus needs on a server: streams, the bucket of secrets, consumers. Again it changes nothing."""

from typing import Final

from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StoreCompression,
    StreamConfig,
)
from nats.js.errors import BadRequestError, NotFoundError

from kernelmill.bus.errors import NotProvisionedError
from kernelmill.bus.messages import MESSAGE_LIMIT
from kernelmill.bus.subjects import EVERYTHING, work_filter
from kernelmill.bus.work import Worker
from kernelmill.identity import new_id

LOG_STREAM: Final = "KERNELMILL"
BLOB_STREAM: Final = "KERNELMILL_BLOBS"
DEAD_STREAM: Final = "KERNELMILL_DEAD"
SECRETS_BUCKET: Final = "kernelmill-secrets"
BLOB_ROOT: Final = "kernelmill.blob"
PARKED_ROOT: Final = "kernelmill.parked"
PART: Final = 512 * 1024
"""Bytes of one part of a blob."""
LOG_ID: Final = "kernelmill-log-id"
"""Key of the stream's metadata under which the log's id is kept."""

_MAX_DELIVERIES: Final = 1000
"""A high backstop; work ends by events, not by counting deliveries."""


async def provision(js: JetStreamContext, *, replicas: int = 1) -> str:
    """Create the streams and the bucket of secrets unless they exist, and return the log's id."""
    await _stream(
        js,
        StreamConfig(
            name=LOG_STREAM,
            subjects=[EVERYTHING],
            retention=RetentionPolicy.LIMITS,
            max_msg_size=MESSAGE_LIMIT,
            deny_delete=True,
            deny_purge=True,
            allow_direct=True,
            allow_atomic=True,
            compression=StoreCompression.S2,
            duplicate_window=120,
            metadata={LOG_ID: new_id("log")},
            storage=StorageType.FILE,
            num_replicas=replicas,
            discard=DiscardPolicy.NEW,
        ),
    )
    await _stream(
        js,
        StreamConfig(
            name=BLOB_STREAM,
            subjects=[f"{BLOB_ROOT}.>"],
            max_msgs_per_subject=1,
            discard_new_per_subject=True,
            max_msg_size=PART + 4096,
            deny_delete=True,
            deny_purge=True,
            allow_direct=True,
            storage=StorageType.FILE,
            num_replicas=replicas,
            discard=DiscardPolicy.NEW,
        ),
    )
    await _stream(
        js,
        StreamConfig(
            name=DEAD_STREAM,
            subjects=[
                f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{LOG_STREAM}.>",
                f"$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.{LOG_STREAM}.>",
                f"{PARKED_ROOT}.>",
            ],
            allow_direct=True,
            storage=StorageType.FILE,
            num_replicas=replicas,
        ),
    )
    try:
        await js.key_value(SECRETS_BUCKET)
    except NotFoundError:
        await js.create_key_value(bucket=SECRETS_BUCKET, history=1, replicas=replicas, storage=StorageType.FILE)
    return await read_log_id(js)


async def read_log_id(js: JetStreamContext) -> str:
    """Return the id of the log on this server.

    Raises:
        NotProvisionedError: the server has no log yet.
    """
    try:
        info = await js.stream_info(LOG_STREAM)
    except NotFoundError:
        raise NotProvisionedError(f"the server has no stream {LOG_STREAM}; start it with `kernelmill up`") from None
    return (info.config.metadata or {}).get(LOG_ID, LOG_STREAM)


async def provision_worker(js: JetStreamContext, worker: Worker, *, ack_wait: float, replicas: int = 1) -> None:
    """Create the durable consumer of a worker unless it exists."""
    config = ConsumerConfig(
        durable_name=worker.durable,
        filter_subjects=[work_filter(item) for item in worker.filters],
        ack_policy=AckPolicy.EXPLICIT,
        deliver_policy=DeliverPolicy.ALL,
        ack_wait=ack_wait,
        max_deliver=_MAX_DELIVERIES,
        max_ack_pending=1000,
        num_replicas=replicas,
    )
    await js.add_consumer(LOG_STREAM, config=config)


async def _stream(js: JetStreamContext, config: StreamConfig) -> None:
    try:
        await js.stream_info(str(config.name))
    except NotFoundError:
        try:
            await js.add_stream(config=config)
        except BadRequestError:
            # Another process was faster; its stream has the same configuration but for the log's id.
            await js.stream_info(str(config.name))
