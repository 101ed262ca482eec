"""What the verifier decides without running anything: the next step of a check, commitments, verdict events."""
