"""problem.toml: everything about a problem that the ecosystem's schema has no place for."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from kernelmill.problems.distributions import FAMILIES
from kernelmill.problems.errors import ProblemFormatError


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


Length = Annotated[int, Field(ge=1)]


class Bound(_Model):
    """The error bound per element: constant * u * sqrt(reduction) * magnitude + absolute."""

    constant: float = Field(gt=0)
    """c, taken from the worst error of trusted implementations and rounded up; the file says which."""
    reduction: str = "1"
    """Length of the longest reduction as an expression over axes."""
    absolute: float = Field(default=0.0, ge=0)
    """Outputs below this do not count: it stands for underflow, not for tolerance."""
    block_constant: float = Field(default=1.0, gt=0)
    """Bound on the root-mean-square scaled error of a block (a row of at least 64 elements), in units of the elements'
    bound; below 1 it finds what is slightly wrong everywhere."""


class Floor(_Model):
    """What any implementation has to move and do."""

    bytes: str
    """Bytes read and written, as an expression over axes."""
    flops: str = "0"
    """Floating point operations, as an expression over axes."""


class Sampling(_Model):
    """Along which axes a call can be checked in parts."""

    rows: str
    """Axis along which outputs are independent given the inputs that have it."""
    columns: str | None = None
    """A second such axis, where every output element can be checked by itself (products)."""


class Input(_Model):
    """How one input is made."""

    scale: float = 1.0
    """Standard deviation of normal values in timed rows and cases."""
    plain: bool = False
    """Whether it stays normal in every case, whatever distribution the case asks for."""
    choices: tuple[int, ...] = ()
    """Values of an integer input in generated cases."""


class Settings(_Model):
    """The content of problem.toml."""

    problem_class: str
    """Class under which lessons are shared, for example `row-reduction`."""
    targets: tuple[str, ...] = ("cpu",)
    """Targets that the seeds and baselines exist for."""
    alignment: Literal[4, 8, 16, 32, 64] = 64
    """Alignment of every tensor's first element in bytes."""
    finite_inputs: bool = True
    """Whether non-finite inputs are undefined, so that -ffinite-math-only is allowed."""
    deterministic: bool = False
    """Whether two runs have to agree to the bit."""
    bound: Bound
    """Error bound."""
    floor: Floor
    """Floor of the work."""
    sampling: Sampling | None = None
    """How timed outputs are sampled; without it they are always checked whole."""
    inputs: dict[str, Input] = Field(default_factory=dict)
    """Inputs that need more than the default."""
    distributions: dict[str, float] = Field(min_length=1)
    """Families of the cases with their scales."""
    sizes: dict[str, Annotated[tuple[Length, ...], Field(min_length=1)]]
    """Lengths of each var axis in generated cases: boundaries, odd ones, primes."""
    multiples: dict[str, Length] = Field(default_factory=dict)
    """Axes whose lengths have to be multiples of a number."""
    derived_axes: dict[str, str] = Field(default_factory=dict)
    """Var axes whose lengths follow from others, as expressions over them; `sizes` of these are not used."""
    case_elements: int = Field(default=120_000, ge=1)
    """Workloads with at most this many elements in all tensors are used as cases."""
    confirmation_only: tuple[str, ...] = ()
    """Ids of rows that only confirmations time."""
    metric: Literal["warm-throughput", "cold-throughput", "single-latency"] = "warm-throughput"
    """Default metric of the rows."""

    def check(self, path: str) -> None:
        """Check what the schema cannot.

        Raises:
            ProblemFormatError: a distribution is not known.
        """
        for family in self.distributions:
            if family not in FAMILIES:
                known = ", ".join(sorted(FAMILIES))
                raise ProblemFormatError(path, f"[distributions] knows no '{family}'; known are {known}")
