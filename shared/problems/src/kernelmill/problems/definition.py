"""FlashInfer-Bench's Definition and Workload schemas, as they are."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Dtype = Literal[
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "float4_e2m1",
    "int64",
    "int32",
    "int16",
    "int8",
    "bool",
]

UNSUPPORTED: frozenset[str] = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1"})
"""Element types of the schema that numpy does not have, so that nothing here can make or compare them."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ConstAxis(_Model):
    """An axis whose length is part of the definition."""

    type: Literal["const"]
    value: int = Field(ge=1)
    """Length."""
    description: str | None = None
    """In words."""


class VarAxis(_Model):
    """An axis whose length each workload gives."""

    type: Literal["var"]
    description: str | None = None
    """In words."""


Axis = Annotated[ConstAxis | VarAxis, Field(discriminator="type")]


class Tensor(_Model):
    """An input or an output."""

    shape: tuple[str, ...] | None
    """Names of its axes, outermost first; None is a scalar."""
    dtype: Dtype
    """Element type."""
    description: str | None = None
    """In words."""


class Definition(_Model):
    """What is to be computed."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    """Name of the problem."""
    op_type: str
    """Family of the operation."""
    axes: dict[str, Axis]
    """Axes by name; the order of the var axes is the order in which kernels get them."""
    inputs: dict[str, Tensor]
    """Inputs by name; their order is the order of the kernel's arguments."""
    outputs: dict[str, Tensor]
    """Outputs by name, after the inputs."""
    reference: str = ""
    """Source of `run(...)`; kept in reference.py here, so that it can be read and linted."""
    description: str | None = None
    """In words."""
    tags: tuple[str, ...] = ()
    """Free labels."""
    constraints: tuple[str, ...] = ()
    """What holds for every workload. Expressions over axes are checked; the schema allows any Python, which is not."""


class RandomInput(_Model):
    """An input drawn at random."""

    type: Literal["random"]


class ScalarInput(_Model):
    """A scalar with a fixed value."""

    type: Literal["scalar"]
    value: int | float | bool
    """The value."""


class SafetensorsInput(_Model):
    """An input stored in a file."""

    type: Literal["safetensors"]
    path: str
    """File."""
    tensor_key: str
    """Name within the file."""


WorkloadInput = Annotated[RandomInput | ScalarInput | SafetensorsInput, Field(discriminator="type")]


class Workload(_Model):
    """One row: lengths of the var axes, and how the inputs are made."""

    axes: dict[str, int]
    """Length of each var axis."""
    inputs: dict[str, WorkloadInput]
    """How each input is made."""
    uuid: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    """Id of the row."""
