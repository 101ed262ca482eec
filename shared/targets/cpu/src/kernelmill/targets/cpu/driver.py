"""Runs a trusted Python baseline under the harness's protocol. Started as a program inside the sandbox.

driver.py MODULE ENTRY SOCKET CONTROL FILTER; the messages are those of native/protocol.h.
"""

import ctypes
import importlib.util
import json
import mmap
import os
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

sys.path[:] = os.environ["KERNELMILL_PATH"].split(os.pathsep)

import numpy as np  # noqa: E402  # the path above comes first

SETUP = struct.Struct("9Q")
PAGE = 4096
COMMAND, FIRST, COUNT, DONE = 0, 8, 16, 64
KIND_INPUT, KIND_VALUE = 0, 2


def load(path: str, entry: str) -> Callable[..., Any]:
    """Return the function of the baseline's module."""
    spec = importlib.util.spec_from_file_location("baseline", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, entry)
    return function


class Setup(NamedTuple):
    """`struct setup` of protocol.h."""

    mode: int
    arguments: int
    calls: int
    table: int
    input_bytes: int
    output_bytes: int
    description: int
    description_bytes: int
    guards: int


def arguments_of(setup: Setup, inputs: mmap.mmap, outputs: mmap.mmap) -> list[list[Any]]:
    """Return the arguments of every call: read-only inputs, outputs, axes as int."""
    shape = (setup.calls + 1, setup.arguments)
    words = np.frombuffer(inputs, dtype=np.int64, count=shape[0] * shape[1], offset=setup.table).reshape(shape)
    kinds, rows = words[0], words[1:]
    text = inputs[setup.description : setup.description + setup.description_bytes]
    specs = [(np.dtype(name), shape) for name, shape in json.loads(text)]
    calls_arguments = []
    for row in rows:
        arguments: list[Any] = []
        for position, (kind, value) in enumerate(zip(kinds, row, strict=True)):
            if kind == KIND_VALUE:
                arguments.append(int(value))
                continue
            dtype, shape = specs[position]
            memory = inputs if kind == KIND_INPUT else outputs
            size = int(np.prod(shape, dtype=np.int64))
            arguments.append(np.frombuffer(memory, dtype=dtype, count=size, offset=int(value)).reshape(shape))
        calls_arguments.append(arguments)
    return calls_arguments


def spin(function: Callable[..., Any], table: list[list[Any]], control: mmap.mmap) -> None:
    """Obey the control page for ever."""
    command, first, count, done = (ctypes.c_uint64.from_buffer(control, at) for at in (COMMAND, FIRST, COUNT, DONE))
    last, calls = 0, len(table)
    while True:
        while command.value == last:
            pass
        last = command.value
        for call in range(first.value, first.value + count.value):
            function(*table[call % calls])
        done.value = last


def main(path: str, entry: str, channel_number: int, control_number: int) -> int:
    """Load the baseline, say so, and make the calls that are asked for."""
    channel = socket.socket(fileno=channel_number)
    control = mmap.mmap(control_number, PAGE)
    try:
        function = load(path, entry)
    except Exception as error:  # noqa: BLE001  # whatever the module raises is told to the parent
        channel.send(b"l" + f"{type(error).__name__}: {error}".encode()[:500])
        return 3
    channel.send(b"r")
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, SETUP.size, 2)
        if len(message) != SETUP.size or len(descriptors) != 2:
            return 0
        setup = Setup(*SETUP.unpack(message))
        inputs = mmap.mmap(descriptors[0], setup.input_bytes, prot=mmap.PROT_READ)
        outputs = mmap.mmap(descriptors[1], setup.output_bytes)
        for descriptor in descriptors:
            os.close(descriptor)
        arguments = arguments_of(setup, inputs, outputs)
        if setup.mode == ord("s"):
            channel.send(b"r")
            spin(function, arguments, control)
        function(*arguments[0])
        channel.send(b"d")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
