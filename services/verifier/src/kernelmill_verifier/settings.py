"""Settings of the verifier besides those that all services share."""

from pydantic_settings import BaseSettings, SettingsConfigDict


class VerifierSettings(BaseSettings):
    """Each comes from an environment variable `KERNELMILL_VERIFIER_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="KERNELMILL_VERIFIER_", extra="ignore", use_attribute_docstrings=True)

    refuse_near_duplicates: bool = True
    """Whether a near twin of an earlier candidate is rejected without being built; off for A/A studies."""
    refuse_constructs: bool = True
    """Whether sources with constructs that no kernel needs are rejected without being built; off to show that the later
    gates hold without it."""
