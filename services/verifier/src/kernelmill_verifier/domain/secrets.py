"""Commitments to the secrets of a campaign."""

from dataclasses import dataclass

from kernelmill.identity import digest_framed


@dataclass(frozen=True)
class SecretNames:
    """Where a campaign's secrets are kept."""

    search: str
    confirmation: str


def secret_names(campaign: str) -> SecretNames:
    """Return the names under which the secrets of a campaign are stored."""
    return SecretNames(f"campaign-{campaign}-search", f"campaign-{campaign}-confirmation")


def commitment(salt: bytes, secret: bytes) -> str:
    """Return the digest that commits to a secret without telling anything about it."""
    return digest_framed([salt, secret])
