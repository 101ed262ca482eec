"""Words of hostile origin, made fit for logs and terminals where they come in."""


def plain(text: str | bytes) -> str:
    """Return the text with everything but printable characters, line breaks and tabs replaced.

    Sources, flags, compilers and candidates themselves can put escape sequences and directional marks into what people
    read later.
    """
    words = text.decode(errors="replace") if isinstance(text, bytes) else text
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in words
    )


def one_line(text: str | bytes) -> str:
    """Return the text made plain, on one line."""
    return " ".join(plain(text).split())
