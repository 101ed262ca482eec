"""Compiles and links programs in the sandbox: objects once per program, a link per layout."""

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from kernelmill.identity import digest_bytes, digest_framed
from kernelmill.sandbox import Confinement, Sandbox
from kernelmill.targets.cpu.elf import read_shared_object
from kernelmill.targets.cpu.harness import HARNESS_VERSION
from kernelmill.targets.cpu.layout import padding_source
from kernelmill.targets.cpu.libraries import LinkedLibrary, linked_library, linked_resources
from kernelmill.targets.cpu.toolchain import Toolchain, toolchain_for
from kernelmill.targets.cpu.words import plain
from kernelmill.targets.port import Artifact, CompileFailure, Program

COMPILE_SECONDS = 60.0
COMPILE_BYTES = 3 << 30
ARTIFACT_BYTES = 8 << 20
"""Largest object and binary: they are stored, copied and linked again for every layout."""
DIAGNOSTIC_BYTES = 16 << 10
UNITS = (".c", ".cc", ".cpp", ".cxx")
ALWAYS = ("-fPIC", "-falign-functions=64", "-falign-loops=64", "-fmax-errors=20", "-pipe")
LINK = ("-shared", "-Wl,-z,now", "-Wl,-z,noexecstack", "-Wl,--build-id=none")
TOOLCHAIN_PATHS = tuple(Path(path) for path in ("/usr", "/bin", "/etc/alternatives"))


class _Stopped(Exception):  # noqa: N818  # carries an ordinary outcome out of nested steps; never leaves this module
    def __init__(self, failure: CompileFailure) -> None:
        super().__init__(failure.diagnostics)
        self.failure = failure


class Builder:
    """Compiles programs of language `c` and stores Python baselines. Thread-safe."""

    def __init__(self, sandbox: Sandbox, folder: Path, cpus: tuple[int, ...]) -> None:
        """Keep results below `folder`, which sandboxed users must be able to reach; compile on `cpus`."""
        self._sandbox = sandbox
        self._cpus = cpus
        self._objects, self._artifacts, self._work = (folder / name for name in ("objects", "artifacts", "build"))
        self._libraries = folder / "libraries"
        for path in (self._objects, self._artifacts, self._work):
            path.mkdir(parents=True, exist_ok=True)

    def build(self, program: Program, layout_seed: bytes | None) -> Artifact | CompileFailure:
        """Compile, link with the layout of the seed, and return what came of it.

        Raises:
            CpuTargetError: if a compiler or library is missing.
            OSError: if the sandbox fails.
        """
        started = time.monotonic()
        if program.language == "python":
            return self._store_python(program, started)
        toolchain, driver = toolchain_for(program.build)
        libraries = tuple(linked_library(name, self._libraries) for name in program.link)
        try:
            objects = self._compile(program, toolchain, driver, libraries, started)
            data = self._link(objects, [driver, *_runtime(program)], libraries, layout_seed, started)
        except _Stopped as stopped:
            return stopped.failure
        facts = read_shared_object(data, program.entry)
        if facts is None or not facts.exports_entry:
            hint = ' (in C++ it must be extern "C")' if "++" in program.build.standard else ""
            words = f"the function '{program.entry}' is not exported: define it without `static`{hint}"
            return CompileFailure("load", words, timed_out=False, seconds=time.monotonic() - started)
        path, digest = self._store(data, ".so")
        versions = "".join(f"; {library.version}" for library in libraries)
        return Artifact(
            path=path,
            digest=digest,
            toolchain=f"{toolchain.version}; {' '.join(LINK)}{versions}; harness {HARNESS_VERSION}",
            seconds=time.monotonic() - started,
            size=facts.text_bytes + facts.data_bytes,
            entry=program.entry,
            resources={
                "text_bytes": float(facts.text_bytes),
                "data_bytes": float(facts.data_bytes),
                **linked_resources(program.link),
            },
        )

    def _store_python(self, program: Program, started: float) -> Artifact | CompileFailure:
        if len(program.files) != 1:
            return CompileFailure("load", "a Python baseline is one module", timed_out=False, seconds=0.0)
        (data,) = program.files.values()
        path, digest = self._store(data, ".py")
        return Artifact(
            path=path,
            digest=digest,
            toolchain=f"python; harness {HARNESS_VERSION}",
            seconds=time.monotonic() - started,
            size=len(data),
            entry=program.entry,
            language="python",
        )

    def _compile(
        self,
        program: Program,
        toolchain: Toolchain,
        driver: str,
        libraries: Sequence[LinkedLibrary],
        started: float,
    ) -> list[bytes]:
        units = [name for name in sorted(program.files) if PurePosixPath(name).suffix in UNITS]
        if not units:
            words = f"no source file ends in {', '.join(UNITS)}"
            raise _Stopped(CompileFailure("compile", words, timed_out=False, seconds=0.0))
        language = "c++" if "++" in program.build.standard else "c"
        flags = [f"-std={program.build.standard}", *program.build.flags, *ALWAYS, "-x", language]
        flags += [flag for library in libraries for flag in library.compile_flags]
        if toolchain.compiler == "clang":
            flags = [flag.replace("-fmax-errors=", "-ferror-limit=") for flag in flags]
        parts = [
            toolchain.version,
            *flags,
            *(part for name in sorted(program.files) for part in (name, program.files[name])),
        ]
        key = digest_framed(part.encode() if isinstance(part, str) else part for part in parts)
        stored = [self._objects / f"{key}-{index}.o" for index in range(len(units))]
        if all(path.exists() for path in stored):
            return [path.read_bytes() for path in stored]
        with self._folder() as work:
            for name, data in program.files.items():
                target = work / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            readable = [path for library in libraries for path in library.readable]
            for index, unit in enumerate(units):
                self._tool([driver, *flags, "-c", unit, "-o", f"unit{index}.o"], work, readable, "compile", started)
            objects = [_read_result(work / f"unit{index}.o") for index in range(len(units))]
        for path, data in zip(stored, objects, strict=True):
            _store_atomically(path, data)
        return objects

    def _link(
        self,
        objects: Sequence[bytes],
        driver: Sequence[str],
        libraries: Sequence[LinkedLibrary],
        layout_seed: bytes | None,
        started: float,
    ) -> bytes:
        with self._folder() as work:
            names = [f"unit{index}.o" for index in range(len(objects))]
            for name, data in zip(names, objects, strict=True):
                (work / name).write_bytes(data)
            if layout_seed is not None:
                padding, names = padding_source(layout_seed, names)
                (work / "padding.s").write_bytes(padding)
            link = [flag for library in libraries for flag in library.link_flags]
            command = [*driver, *LINK, "-o", "kernel.so", *names, *link, "-lm"]
            readable = [path for library in libraries for path in library.readable]
            self._tool(command, work, readable, "link", started)
            return _read_result(work / "kernel.so")

    def _tool(
        self,
        command: Sequence[str],
        work: Path,
        readable: Iterable[Path],
        stage: Literal["compile", "link"],
        started: float,
    ) -> None:
        ended, output = self._sandbox.run(
            command,
            Confinement(
                wall_seconds=COMPILE_SECONDS,
                cpu_seconds=COMPILE_SECONDS,
                memory_bytes=COMPILE_BYTES,
                processes=32,
                readable=(*(path for path in TOOLCHAIN_PATHS if path.exists()), *readable),
                writable=work,
                environment={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": str(work)},
                cpus=self._cpus,
                group=False,
            ),
            output_bytes=DIAGNOSTIC_BYTES,
        )
        if ended.kind == "code" and ended.number == 0:
            return
        words = plain(output).replace(f"{work}/", "").replace(str(work), "")
        timed_out = ended.timed_out or (ended.kind == "signal" and ended.cpu_seconds >= 0.95 * COMPILE_SECONDS)
        if timed_out:
            words += f"\nstopped after {COMPILE_SECONDS:g} s"
        elif ended.kind == "signal":
            words += f"\nthe compiler was ended by signal {ended.number}"
        raise _Stopped(CompileFailure(stage, words.strip(), timed_out=timed_out, seconds=time.monotonic() - started))

    @contextlib.contextmanager
    def _folder(self) -> Iterator[Path]:
        work = Path(tempfile.mkdtemp(dir=self._work))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _store(self, data: bytes, suffix: str) -> tuple[Path, str]:
        digest = digest_bytes(data)
        path = self._artifacts / f"{digest}{suffix}"
        if not path.exists():
            _store_atomically(path, data)
        return path, digest


def _runtime(program: Program) -> tuple[str, ...]:
    """Return the one flag that the link step takes from a program. It never sees any of -ffast-math's parts."""
    return tuple(flag for flag in program.build.flags if flag == "-fopenmp")


def _read_result(path: Path) -> bytes:
    """Read what a compiler left, without following links and within bounds."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > ARTIFACT_BYTES:
            raise _Stopped(
                CompileFailure(
                    "link", f"the result is larger than {ARTIFACT_BYTES} bytes", timed_out=False, seconds=0.0
                )
            )
        return file.read()


def _store_atomically(path: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).chmod(0o644)
    Path(file.name).rename(path)
