"""The budget's invariant against a model that remembers everything."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kernelmill.events import Budget, Reservation, Spending
from kernelmill.folds import BudgetFold, add_spending, cap_spending

AMOUNTS = st.builds(Spending, evaluations=st.integers(0, 6), device_seconds=st.floats(0, 9).map(lambda x: round(x, 2)))
NAMES = st.sampled_from(["r1", "r2", "r3", "r4", "r5"])


class Spenders(RuleBasedStateMachine):
    """Planners that ask before they reserve, and settlements that are late, doubled or of unknown reservations."""

    def __init__(self) -> None:
        super().__init__()
        self.fold = BudgetFold(Budget(evaluations=20, device_seconds=30.0))
        self.sequence = 0
        self.reserved: dict[str, Spending] = {}
        self.settled = Spending()
        self.seen: set[str] = set()

    @rule(name=NAMES, amount=AMOUNTS)
    def reserve(self, name: str, amount: Spending) -> None:
        self.sequence += 1
        if not self.fold.affords(amount):
            return
        self.fold.reserve(self.sequence, Reservation(reservation=name, amount=amount))
        if name not in self.seen:
            self.seen.add(name)
            self.reserved[name] = amount

    @rule(name=NAMES, spent=AMOUNTS)
    def settle(self, name: str, spent: Spending) -> None:
        self.sequence += 1
        amount = self.reserved.pop(name, None)
        cost = spent if amount is None else cap_spending(spent, amount)
        self.fold.settle(self.sequence, name, cost)
        if amount is not None:
            self.settled = add_spending(self.settled, cost)

    @invariant()
    def the_fold_says_what_the_model_says(self) -> None:
        assert self.fold.open == self.reserved
        assert self.fold.settled.evaluations == self.settled.evaluations
        assert abs(self.fold.settled.device_seconds - self.settled.device_seconds) < 1e-6

    @invariant()
    def nothing_is_overspent(self) -> None:
        assert self.fold.violations == []
        assert self.fold.settled.evaluations + self.fold.reserved.evaluations <= 20
        assert self.fold.settled.device_seconds + self.fold.reserved.device_seconds <= 30.0 + 1e-6


TestSpenders = Spenders.TestCase
TestSpenders.settings = settings(max_examples=60, stateful_step_count=30)


@given(AMOUNTS, AMOUNTS)
def test_what_exceeds_a_reservation_or_the_budget_is_found(amount: Spending, spent: Spending) -> None:
    fold = BudgetFold(Budget(evaluations=4))
    fold.reserve(1, Reservation(reservation="r", amount=amount))
    assert bool(fold.violations) == (amount.evaluations > 4)
    before = len(fold.violations)
    fold.settle(2, "r", spent)
    over = spent.evaluations > amount.evaluations or spent.device_seconds > amount.device_seconds + 1e-6
    assert (len(fold.violations) > before) == (over or spent.evaluations > 4)
