"""Errors of the console: each is shown to a person as one message, without a traceback."""


class ConsoleError(Exception):
    """Something that the person at the terminal can mend; the message says what and how."""


class CampaignFileError(ConsoleError):
    """A campaign.toml cannot be used."""


class ProblemNotFoundError(ConsoleError):
    """No problem of that name or at that path."""


class NothingRunsError(ConsoleError):
    """The command needs a running factory: start one with `kernelmill up`, or name its data folder with --data."""


class AmbiguousIdError(ConsoleError):
    """The short form of an id fits several things, or none."""


class SupervisorError(ConsoleError):
    """A service could not be started, or died again and again."""
