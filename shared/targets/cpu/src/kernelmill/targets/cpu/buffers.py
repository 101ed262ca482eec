"""Shared memory of a session: inputs that only the parent can write, outputs that both can."""

import fcntl
import json
import mmap
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kernelmill.targets.port import TensorSpec

PAGE = 4096
LINE = 64
SEAL_FUTURE_WRITE = 0x10
BEHIND_INPUTS = 0xFF
"""Bytes around inputs: NaNs as floats, -1 as integers."""
KIND_INPUT, KIND_OUTPUT, KIND_VALUE = range(3)
MAX_ARGUMENTS = 16


def _round(value: int, to: int) -> int:
    return -(-value // to) * to


def tensor_bytes(spec: TensorSpec) -> int:
    """Return the bytes that one tensor takes."""
    return int(np.prod(spec.shape, dtype=np.int64)) * spec.dtype.itemsize


def _spread(specs: Sequence[TensorSpec], calls: int) -> tuple[list[list[int]], int]:
    """Return offsets [call][tensor] and the total. Calls follow each other; each tensor has its alignment."""
    offsets, position = [], LINE
    for _ in range(calls):
        row = []
        for spec in specs:
            position = _round(position, max(spec.alignment, LINE))
            row.append(position)
            # A line between tensors keeps a write past the end of one from looking like a write of the next.
            position += tensor_bytes(spec) + LINE
        offsets.append(row)
    return offsets, max(position, PAGE)


def _spread_guarded(specs: Sequence[TensorSpec]) -> tuple[list[list[int]], int, list[int]]:
    """Return offsets of one call, the total, and guard pages: one right behind the last line of each tensor.

    Tensors are aligned to lines, so whole lines may be read anywhere; what lies behind may belong to nobody.
    """
    row, guards, position = [], [0], PAGE
    for spec in specs:
        size = _round(max(tensor_bytes(spec), 1), max(spec.alignment, LINE))
        end = position + _round(size, PAGE)
        row.append(end - size)
        guards.append(end)
        position = end + PAGE
    return [row], position, guards


class SharedMemory:
    """A memfd and the parent's mapping of it."""

    def __init__(self, name: str, size: int) -> None:
        self.size = _round(size, PAGE)
        """Bytes, a multiple of the page."""
        self.descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, self.size)
        self.mapping = mmap.mmap(self.descriptor, self.size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self.bytes: NDArray[np.uint8] = np.frombuffer(self.mapping, dtype=np.uint8)
        """All of it."""
        self.address: int = int(self.bytes.ctypes.data)
        """Where the parent mapped it."""

    def seal(self) -> None:
        """Forbid every new writable mapping and every write; the parent's own mapping stays writable."""
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, SEAL_FUTURE_WRITE | fcntl.F_SEAL_SEAL)

    def seal_seals(self) -> None:
        """Forbid further seals: whoever maps it must not be able to keep others from mapping it."""
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)

    def view(self, offset: int, spec: TensorSpec) -> NDArray[np.generic]:
        """Return the tensor at an offset, without copying."""
        return self.bytes[offset : offset + tensor_bytes(spec)].view(spec.dtype).reshape(spec.shape)

    def close(self) -> None:
        """Close the descriptor; the mapping goes with its last view."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


@dataclass(frozen=True)
class Slot:
    """The buffers of one call."""

    inputs: Mapping[str, NDArray[np.generic]]
    outputs: Mapping[str, NDArray[np.generic]]
    output_spans: tuple[tuple[int, int, np.dtype[np.generic]], ...]
    """(address, bytes, dtype) of every output."""


class Pool:
    """Buffers for a number of calls and the table that tells the harness their places."""

    def __init__(
        self,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        axes: Iterable[int],
        calls: int,
        *,
        guarded: bool = False,
    ) -> None:
        """Map and lay out buffers.

        Args:
            inputs: Inputs of a call.
            outputs: Outputs of a call.
            axes: Values that are passed after them.
            calls: Slots.
            guarded: Whether pages that nobody may touch surround every tensor; for one call only.
        """
        values = list(axes)
        if not 1 <= len(inputs) + len(outputs) + len(values) <= MAX_ARGUMENTS:
            raise ValueError(f"a kernel takes 1 to {MAX_ARGUMENTS} arguments (inputs, outputs and var axes together)")
        if guarded and calls != 1:
            raise ValueError("guard pages are for pools of one call")
        around: list[int] = []
        if guarded:
            input_offsets, table, around_inputs = _spread_guarded(inputs)
            output_offsets, output_size, around_outputs = _spread_guarded(outputs)
            around = [len(around_inputs), *around_inputs, len(around_outputs), *around_outputs]
        else:
            input_offsets, table = _spread(inputs, calls)
            output_offsets, output_size = _spread(outputs, calls)
        table = _round(table, LINE)
        self.arguments = len(inputs) + len(outputs) + len(values)
        """Arguments of one call: inputs, outputs, var axes."""
        self.calls = calls
        kinds = [KIND_INPUT] * len(inputs) + [KIND_OUTPUT] * len(outputs) + [KIND_VALUE] * len(values)
        rows = [[*ins, *outs, *values] for ins, outs in zip(input_offsets, output_offsets, strict=True)]
        words = np.array([word for row in (kinds, *rows, around) for word in row], dtype=np.int64)
        self.input_bytes_per_call = table // calls
        """Bytes of inputs that one slot takes, about."""
        text = json.dumps([[spec.dtype.str, list(spec.shape)] for spec in (*inputs, *outputs)]).encode()
        self.description = (table + words.nbytes, len(text))
        """Offset and length of the JSON description in the inputs."""
        self.guards = table + words.nbytes - 8 * len(around) if around else 0
        """Offset of the guard pages' list in the inputs; 0 where there are none."""
        self.inputs = SharedMemory("kernelmill-inputs", table + words.nbytes + len(text))
        self.outputs = SharedMemory("kernelmill-outputs", output_size)
        self.table = table
        """Offset of the call table in the inputs."""
        # A sum that goes on behind an input comes to nothing, whatever the type.
        self.inputs.bytes[:table] = BEHIND_INPUTS
        self.inputs.bytes[table : table + words.nbytes] = words.view(np.uint8)
        self.inputs.bytes[self.description[0] :][: len(text)] = np.frombuffer(text, dtype=np.uint8)
        self.inputs.seal()
        self.outputs.seal_seals()
        self.slots = [
            Slot(
                {spec.name: self.inputs.view(at, spec) for spec, at in zip(inputs, ins, strict=True)},
                {spec.name: self.outputs.view(at, spec) for spec, at in zip(outputs, outs, strict=True)},
                tuple(
                    (self.outputs.address + at, tensor_bytes(spec), spec.dtype)
                    for spec, at in zip(outputs, outs, strict=True)
                ),
            )
            for ins, outs in zip(input_offsets, output_offsets, strict=True)
        ]
        self._between = self._bytes_between()
        self._untouched = np.frombuffer(os.urandom(self._between.size), dtype=np.uint8)
        self.outputs.bytes[self._between] = self._untouched

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _bytes_between(self) -> NDArray[np.int64]:
        """Return the offsets of all bytes of the outputs' memory that belong to no output."""
        spans = sorted((at - self.outputs.address, size) for slot in self.slots for at, size, _ in slot.output_spans)
        starts = [0, *(at + size for at, size in spans)]
        ends = [*(at for at, _ in spans), self.outputs.size]
        return np.concatenate([np.arange(start, end) for start, end in zip(starts, ends, strict=True)])

    def spilled(self) -> bool:
        """Say whether somebody wrote between or behind the outputs, which hold random bytes that nobody may change."""
        return not np.array_equal(self.outputs.bytes[self._between], self._untouched)

    def close(self) -> None:
        """Give the memory back once no view is left."""
        self.inputs.close()
        self.outputs.close()
