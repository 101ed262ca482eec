"""Values that several events share: sources, build options, effects, cases, budgets."""

from typing import Literal

from pydantic import Field

from kernelmill.events.base import Count, NonNegative, Value
from kernelmill.identity import Digest, EventId, Token

BlobClass = Literal["source", "artifact", "log", "report", "problem", "transcript"]


class BlobRef(Value):
    """A content-addressed piece of data that is too large for an event."""

    digest: Digest
    """sha256 of the bytes."""
    size: Count
    """Length in bytes."""
    blob_class: BlobClass
    """What it is; outside readers get `source` and `report` only."""


class SourceFile(Value):
    """One source file of a candidate, LF line ends."""

    path: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,120}$")
    """Path relative to the candidate's folder, `/` as separator, no `..`."""
    blob: BlobRef
    """The bytes."""


class BuildOptions(Value):
    """How a candidate is compiled. `native` is resolved to named features before hashing."""

    compiler: Literal["gcc", "clang"] = "gcc"
    """Compiler family."""
    standard: Literal["c11", "c17", "gnu11", "gnu17", "c++17", "gnu++17"] = "gnu11"
    """Language standard."""
    flags: tuple[str, ...] = ()
    """Flags from the target's allow-list, in the order given to the compiler."""


class Interval(Value):
    """An estimate with its two-sided confidence interval."""

    estimate: float
    """Point estimate."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    level: float = Field(gt=0.0, lt=1.0)
    """Confidence level, for example 0.95."""


class CaseOutcome(Value):
    """What a candidate did on one correctness case. Never the values of a hidden case."""

    case: Token
    """Id of the case within its round."""
    distribution: str
    """Family of the input distribution."""
    axes: dict[str, int]
    """Values of the problem's var axes."""
    outcome: Literal[
        "passed",
        "wrong",
        "unfinished",
        "non-finite",
        "nondeterministic",
        "state-changed",
        "crashed",
        "timed-out",
        "memory",
    ]
    """What happened. Only `passed` counts for the candidate."""
    worst_error: NonNegative | None
    """Largest |output - reference| / bound over all elements; at most 1 passes. None where there was no output."""
    quantiles: tuple[NonNegative, ...] = ()
    """0.5, 0.9, 0.99 and 0.999 quantiles of the scaled error."""
    worst_block: NonNegative | None = None
    """Largest scaled block norm (per row or per tile, as the problem declares)."""
    repeat_difference: NonNegative | None = None
    """Largest |first run - second run| / bound; None when it ran once."""
    input_digest: Digest
    """sha256 over the case's inputs, so that an audit can regenerate and compare."""


class PairScore(Value):
    """The score of one process pair: a fresh process of each side, timed in alternation on the same inputs."""

    log_ratio: float
    """25 % trimmed mean over the duels of ln(opponent seconds / candidate seconds); above 0 the candidate is faster."""
    mean_log_ratio: float
    """Plain mean of the same, as a check on the trimming."""
    duels: Count
    """Duels that counted."""
    discarded: Count = 0
    """Duels thrown away: steal, throttling, migration."""
    candidate_ns: NonNegative
    """Median nanoseconds per call of the candidate in this pair."""
    opponent_ns: NonNegative
    """Median nanoseconds per call of the opponent in this pair."""


class RowEffect(Value):
    """All pairs of a candidate against one opponent on one workload."""

    workload: Token
    """Id of the workload."""
    opponent: str
    """Name of a baseline, or the id of a champion."""
    pairs: tuple[PairScore, ...]
    """One score per process pair."""
    floor_ns: NonNegative = 0.0
    """Nanoseconds that the node's own best probe needs for this row's work, times 0.8."""
    stopped_early: bool = False
    """Whether the race dropped the candidate before all pairs were run."""


class EffectEstimate(Value):
    """A speed-up with its interval, as ratios: 1.2 means 20 % less time per call than the opponent allows."""

    workload: Token | Literal["geometric-mean", "worst-row"]
    """The row, or how rows were put together."""
    opponent: str
    """Name of a baseline, or the id of a champion."""
    speedup: Interval
    """Opponent's seconds divided by the candidate's."""
    p_value: float | None = None
    """Exact one-sided Wilcoxon signed-rank p value over process pairs, where one was computed."""


class Budget(Value):
    """What a campaign may spend; None is unlimited."""

    evaluations: Count | None = None
    """Candidates proposed."""
    wall_seconds: NonNegative | None = None
    """Seconds from CampaignStarted on."""
    device_seconds: NonNegative | None = None
    """Seconds of exclusive device time."""
    usd: NonNegative | None = None
    """Money for models."""
    tokens: Count | None = None
    """Tokens of models."""


class Spending(Value):
    """An amount reserved or settled."""

    evaluations: Count = 0
    """Candidates proposed."""
    device_seconds: NonNegative = 0.0
    """Seconds of exclusive device time."""
    usd: NonNegative = 0.0
    """Money for models."""
    tokens: Count = 0
    """Tokens of models."""


class Reservation(Value):
    """A named part of the budget that is set aside before the work is dispatched."""

    reservation: Token
    """Unique within the campaign; ReservationSettled names it."""
    amount: Spending
    """The most that the work may spend."""


class AgentShare(Value):
    """One entry of a campaign's agent mix."""

    agent: Token
    """Agent kind: `search`, later `llm`, `cli`, `external`."""
    share: float = Field(gt=0.0)
    """Relative weight."""


class Goal(Value):
    """When a campaign has reached what it was opened for."""

    speedup: float | None = Field(default=None, gt=0.0)
    """Confirmed geometric-mean speed-up over the best baseline; None: run until the budget ends or progress stalls."""
    stall_verdicts: Count = 400
    """Stop after this many verdicts in a row without a new champion; 0: never."""


class Constraints(Value):
    """What a candidate of this campaign must respect besides being right."""

    error_scale: float = Field(default=1.0, gt=0.0, le=1.0)
    """Multiplies the problem's error bound: below 1 is stricter."""
    bitwise_deterministic: bool = False
    """Whether two runs on the same inputs must agree to the bit."""
    memory_mib: int = Field(default=2048, ge=64)
    """Address space that one candidate process may map, in MiB."""
    threads: int = Field(default=1, ge=1)
    """Threads that a candidate may use; baselines get the same."""
    techniques: tuple[str, ...] = ()
    """Techniques that agents may use; empty: all."""


class Objective(Value):
    """What a campaign wants, as written in campaign.toml."""

    problem: Token
    """Name of the problem."""
    problem_digest: Digest
    """Digest of the problem's folder."""
    target: Token
    """What candidates are for: `cpu`, `cuda-sm90`, ..."""
    metric: Literal["warm-throughput", "cold-throughput", "single-latency"] = "warm-throughput"
    """How a row is timed."""
    direction: Literal["maximise", "minimise"] = "maximise"
    """Direction of the reported speed-up."""
    workloads: tuple[Token, ...] = ()
    """Ids of the timed rows; empty: all rows of the problem."""
    constraints: Constraints = Constraints()
    """Constraints on candidates."""
    baselines: tuple[str, ...] = ()
    """Names of the baselines to beat; empty: all that the problem has and the node supports."""
    policy_digest: Digest
    """Digest of the policy under which verdicts are reached."""
    budget: Budget
    """What may be spent."""
    goal: Goal = Goal()
    """When to stop early."""
    agents: tuple[AgentShare, ...] = (AgentShare(agent="search", share=1.0),)
    """Who works, in what proportion."""
    seed: Count
    """Seed of the planner's and the agents' choices; cases are derived from the secret, never from this."""


class Direction(Value):
    """What a task should try: an operator and its arguments."""

    operator: Literal["seed", "tune", "rewrite", "crossover", "explore"]
    """The kind of move."""
    technique: str | None = None
    """A technique to try, if the planner names one."""
    note: str = ""
    """Why this direction, in words for agents and people."""


class MemoryUse(Value):
    """Which lessons a plan used and how fresh they were."""

    position: Count
    """Log sequence up to which the lessons had been folded."""
    lessons: tuple[str, ...]
    """Keys of the lessons that the brief contains."""


class Prediction(Value):
    """What an agent expects of its own proposal."""

    speedup: float = Field(gt=0.0)
    """Expected speed-up over the first parent (over the best seed where there is none)."""
    why: str = ""
    """The reason, in words."""


class Traits(Value):
    """Behaviour that the sources show; measured by the verifier, never claimed by the author."""

    techniques: tuple[str, ...]
    """Techniques found in the sources and the flags, sorted."""
    source_bytes: Count
    """Total size of the sources."""
    loops: Count
    """Loops in the sources."""
    vector_types: Count
    """Uses of vector types or intrinsics."""
    max_live_accumulators: Count = 0
    """Independent accumulators in the hottest loop, as far as the parser sees."""


class Telemetry(Value):
    """The machine's state around a measurement."""

    load_1m: NonNegative
    """Load average over one minute."""
    steal_fraction: float
    """Share of CPU time stolen by the hypervisor during the measurement; -1 where unknown."""
    migrations: int
    """Migrations of the candidate's process; -1 where unknown."""
    frequency_mhz: float
    """Mean clock of the bench core in MHz; 0 where unknown."""


class Sandboxing(Value):
    """How strongly the candidate was isolated while it was measured."""

    freeze: Literal["cgroup-v2", "cgroup-v1", "self-stop"]
    """What keeps the process still outside its turn; `self-stop` is weaker evidence."""
    layers: tuple[str, ...]
    """Active layers: namespaces, landlock, seccomp, rlimits, uid."""


class Evidence(Value):
    """References from a verdict to what it rests on."""

    events: tuple[EventId, ...]
    """Ids of the evidence events, in stream order."""


class Fingerprint(Value):
    """Everything a timing depends on besides the code; different fingerprints are never ranked against each other."""

    digest: Digest
    """sha256 over the facts."""
    facts: dict[str, str]
    """Device, cores, compiler, harness, kernel and clock policy."""
