"""The policy that campaigns get unless they name another one."""

from kernelmill.events import Policy


def default_policy() -> Policy:
    """Return the policy of this release: the defaults that `kernelmill.events.Policy` declares, field by field."""
    return Policy()
