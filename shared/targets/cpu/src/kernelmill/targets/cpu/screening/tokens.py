"""Tokens of C and C++ sources through tree-sitter: parsing, and a fingerprint of the normalised stream."""

import re
from collections.abc import Iterator, Mapping

import tree_sitter_c
import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from kernelmill.identity import digest_bytes

FINGERPRINT_VERSION = "t1"
_LANGUAGES = {"c": Language(tree_sitter_c.language()), "c++": Language(tree_sitter_cpp.language())}
_NAMES = frozenset(
    {"identifier", "field_identifier", "type_identifier", "statement_identifier", "namespace_identifier"}
)
_WORD = re.compile(rb"[A-Za-z_]\w*|\.?\d[\w.]*|[^\s\w]")
_MEANINGFUL = re.compile(
    rb"(_mm|__builtin|__m\d|_mm\d|u?int\d+_t$|size_t$|ptrdiff_t$|exp|log|sqrt|fma|pow|tanh|erf|rsqrt|f?abs|f?max|f?min)"
)
"""Names that carry meaning of their own and are kept; all others are numbered in order of appearance."""


def parse(source: bytes, language: str) -> Node:
    """Return the root of the syntax tree; `language` is `c` or `c++`. Parsing never fails, it marks errors."""
    return Parser(_LANGUAGES[language]).parse(source).root_node


def walk(node: Node) -> Iterator[Node]:
    """Yield every node of a tree, parents first, without recursion: hostile sources nest deeply."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def leaves(root: Node) -> Iterator[tuple[str, bytes]]:
    """Yield (kind, text) of every token without comments; the raw text of macros is split into words."""
    for node in walk(root):
        if node.child_count or node.type == "comment" or not node.text:
            continue
        if node.type == "preproc_arg":
            for word in _WORD.findall(re.sub(rb"/\*.*?\*/|//.*", b" ", node.text, flags=re.DOTALL)):
                yield ("identifier" if word[:1].isalpha() or word[:1] == b"_" else "word", word)
        else:
            yield (node.type, node.text)


def shape_fingerprint(trees: Mapping[str, Node]) -> str:
    """Return a fingerprint that does not see comments, white space, and the author's choice of names.

    Args:
        trees: File name to root; files are taken in the order of their names, which are not part of it.
    """
    numbers: dict[bytes, int] = {}
    stream: list[bytes] = []
    for name in sorted(trees):
        for kind, text in leaves(trees[name]):
            if kind in _NAMES and not _MEANINGFUL.match(text):
                stream.append(b"v%d" % numbers.setdefault(text, len(numbers)))
            elif stripped := text.strip():
                stream.append(stripped)
        stream.append(b"\0")
    return f"{FINGERPRINT_VERSION}:{digest_bytes(b' '.join(stream))}"
