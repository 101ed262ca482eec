"""Runs a service: connects, provisions, consumes, answers, and ends in order on SIGTERM."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, NatsMessage, PullSub
from faststream.security import SASLPlaintext
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from kernelmill.bus.connection import ASK, Bus, bus_over, close_client, open_client
from kernelmill.bus.dead_letters import AGAIN
from kernelmill.bus.jetstream import provision_worker
from kernelmill.bus.jetstream.provision import LOG_STREAM
from kernelmill.bus.logs import configure_logs
from kernelmill.bus.settings import ServiceSettings
from kernelmill.bus.subjects import work_filter
from kernelmill.bus.work import Answer, ServicePlan, Worker
from kernelmill.bus.worker import DeliveryLoop

Planning = Callable[[Bus, ServiceSettings], Awaitable[ServicePlan]]
"""Builds a service over a bus."""

_PULL_SECONDS: Final = 5.0
_TASK_PAUSE: Final = 1.0
_PATIENCE: Final = 3.0

_logger = structlog.get_logger(__name__)


def run_service(role: str, plan: Planning) -> int:
    """Run a service until SIGTERM or SIGINT and return the process's exit code."""
    settings = ServiceSettings()
    configure_logs(role, settings.instance)
    return asyncio.run(_run(role, plan, settings))


async def _run(role: str, plan: Planning, settings: ServiceSettings) -> int:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    client = await _connected(settings, role, stopping)
    if client is None:
        return 0
    try:
        bus = await bus_over(client, role, settings)
        await serve(bus, await plan(bus, settings), settings, stopping)
    finally:
        await close_client(client)
    return 0


async def _connected(settings: ServiceSettings, role: str, stopping: asyncio.Event) -> Client | None:
    """Return a client; while the server is away, say so once and keep trying. None when told to stop meanwhile."""
    opening = asyncio.create_task(open_client(settings, f"{role}/{settings.instance}"))
    stopped = asyncio.create_task(stopping.wait())
    try:
        done, _ = await asyncio.wait({opening, stopped}, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            _logger.warning("the server cannot be reached yet; trying again", servers=len(settings.servers()))
            await asyncio.wait({opening, stopped}, return_when=asyncio.FIRST_COMPLETED)
        return opening.result() if opening.done() else None
    finally:
        for task in (opening, stopped):
            task.cancel()
        await asyncio.gather(opening, stopped, return_exceptions=True)


async def serve(bus: Bus, plan: ServicePlan, settings: ServiceSettings, stopping: asyncio.Event) -> None:
    """Run a plan until `stopping` is set; what is in hand is finished or returned."""
    if bus.client is None:
        raise ValueError("a service needs a bus on a server")
    js = bus.client.jetstream(timeout=10.0)
    for worker in plan.workers:
        await provision_worker(js, worker, ack_wait=settings.ack_wait, replicas=settings.replicas)
    answering = [await _answer(bus.client, what, answer) for what, answer in plan.answers.items()]
    tasks = [asyncio.create_task(_kept_running(task)) for task in plan.tasks]
    broker = NatsBroker(
        settings.servers(),
        security=_security(settings),
        max_reconnect_attempts=-1,
        reconnect_time_wait=1,
        logger=None,
    )
    loops = [DeliveryLoop(worker, bus, settings.ack_wait) for worker in plan.workers]
    for worker, delivery_loop in zip(plan.workers, loops, strict=True):
        answering.append(await _take_again(bus.client, worker.durable, delivery_loop))
        for _ in range(worker.slots):
            _subscribe(broker, worker, delivery_loop)
    if plan.workers:
        await broker.start()
    _logger.info("ready", workers=[worker.durable for worker in plan.workers])
    try:
        await stopping.wait()
    finally:
        _logger.info("stopping")
        await asyncio.gather(*(delivery_loop.drain(settings.shutdown_grace) for delivery_loop in loops))
        await _ended(tasks)
        for subscription in answering:
            await subscription.unsubscribe()
        if plan.stop is not None:
            await plan.stop()
        await broker.stop()


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel tasks until they have ended: a cancellation that meets a time-out just as it expires can be lost."""
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=1.0)


def _security(settings: ServiceSettings) -> SASLPlaintext | None:
    if settings.nats_user is None:
        return None
    return SASLPlaintext(username=settings.nats_user, password=settings.password() or "")


def _subscribe(broker: NatsBroker, worker: Worker, delivery_loop: DeliveryLoop) -> None:
    """Attach one slot of a worker; each slot has one outstanding pull, so that nothing waits behind busy hands.

    The consumer exists already: FastStream's own declaration would rewrite it and the stream.
    """
    subscriber = broker.subscriber(
        work_filter(worker.filters[0]),
        durable=worker.durable,
        stream=JStream(LOG_STREAM, declare=False),
        pull_sub=PullSub(batch_size=1, timeout=_PULL_SECONDS),
        ack_policy=AckPolicy.MANUAL,
        decoder=_leave_raw,
    )

    async def receive(_body: bytes, message: NatsMessage) -> None:
        await delivery_loop.handle(message)

    subscriber(receive)


async def _leave_raw(message: NatsMessage) -> bytes:
    return message.body if isinstance(message.body, bytes) else bytes(message.body)


async def _answer(client: Client, what: str, answer: Answer) -> Subscription:
    async def reply(message: Msg) -> None:
        try:
            await message.respond(await answer(message.data))
        except Exception:
            _logger.exception("a question could not be answered", what=what)

    return await client.subscribe(f"{ASK}.{what}", queue=what, cb=reply)


async def _take_again(client: Client, durable: str, delivery_loop: DeliveryLoop) -> Subscription:
    """Let people hand a message that the worker gave up to one of its instances again."""

    async def take(message: Msg) -> None:
        await message.respond((await delivery_loop.again(int(message.data))).encode())

    return await client.subscribe(f"{AGAIN}.{durable}", queue=durable, cb=take)


async def _kept_running(task: Callable[[], Awaitable[None]]) -> None:
    """Run a task until it returns; when it fails, say so and start it again: it keeps its own position."""
    while True:
        try:
            await task()
        except asyncio.CancelledError:
            raise
        except Exception:
            _logger.exception("a task failed; it is started again")
            await asyncio.sleep(_TASK_PAUSE)
        else:
            return
