"""What holds beyond one campaign: nodes, tuned baselines, problems and policies, folded from the log."""

from dataclasses import dataclass, field

from kernelmill.events import (
    BaselineTuned,
    EventBase,
    NodeCalibrated,
    NodeJoined,
    NodeLeft,
    NodeQuarantined,
    Policy,
    PolicyAdopted,
    ProblemRefuted,
    ProblemRegistered,
    ProblemValidated,
)


@dataclass
class NodeState:
    """What is known about one node."""

    joined: NodeJoined
    """The latest joining: fingerprint, capabilities (`native-flags`, compilers, threads), sandboxing."""
    sequence: int
    calibrated: NodeCalibrated | None = None
    quarantined: NodeQuarantined | None = None
    left: NodeLeft | None = None

    @property
    def live(self) -> bool:
        """Whether work may be sent there: it joined, has not left and is not in quarantine."""
        return self.left is None and self.quarantined is None

    @property
    def fingerprint(self) -> str:
        """Digest of the fingerprint."""
        return self.joined.fingerprint.digest


@dataclass
class ProblemState:
    """What is known about one problem."""

    registered: ProblemRegistered | None = None
    validated: ProblemValidated | None = None
    refuted: ProblemRefuted | None = None


@dataclass
class WorldFold:
    """Nodes, baselines, problems and policies after the events applied so far."""

    nodes: dict[str, NodeState] = field(default_factory=dict)
    baselines: dict[str, BaselineTuned] = field(default_factory=dict)
    """The latest tuning by baseline key."""
    problems: dict[str, ProblemState] = field(default_factory=dict)
    """By digest."""
    policies: dict[str, Policy] = field(default_factory=dict)
    """By digest."""
    last_sequence: int = 0
    _tuned: dict[tuple[str, str, str], dict[str, BaselineTuned]] = field(default_factory=dict)

    def apply(self, sequence: int, event: EventBase) -> bool:
        """Take the next event of the log and return whether it changed anything here."""
        if sequence <= self.last_sequence:
            return False
        self.last_sequence = sequence
        match event:
            case NodeJoined():
                self.nodes[event.node] = NodeState(event, sequence)
            case NodeCalibrated() | NodeQuarantined() | NodeLeft():
                return self._apply_to_node(event)
            case BaselineTuned():
                self.baselines[event.baseline_key] = event
                where = (event.target, event.problem_digest, event.fingerprint)
                self._tuned.setdefault(where, {})[event.baseline_key] = event
            case ProblemRegistered():
                self._problem(event.problem_digest).registered = event
            case ProblemValidated():
                self._problem(event.problem_digest).validated = event
            case ProblemRefuted():
                self._problem(event.problem_digest).refuted = event
            case PolicyAdopted():
                self.policies[event.policy_digest] = event.body
            case _:
                return False
        return True

    def live_nodes(self, target: str) -> list[NodeState]:
        """Return the nodes of a target that take work, in the order in which they joined."""
        live = (node for node in self.nodes.values() if node.live and node.joined.target == target)
        return sorted(live, key=lambda node: node.sequence)

    def tuned(self, target: str, problem_digest: str, fingerprint: str) -> list[BaselineTuned]:
        """Return the baselines of a problem under one fingerprint, the unsupported ones included."""
        return list(self._tuned.get((target, problem_digest, fingerprint), {}).values())

    def _apply_to_node(self, event: NodeCalibrated | NodeQuarantined | NodeLeft) -> bool:
        node = self.nodes.get(event.node)
        if node is None:
            return False
        match event:
            case NodeCalibrated():
                node.calibrated = event
                if event.outcome == "good":
                    node.quarantined = None
            case NodeQuarantined():
                node.quarantined = event
            case NodeLeft():
                node.left = event
        return True

    def _problem(self, digest: str) -> ProblemState:
        return self.problems.setdefault(digest, ProblemState())
