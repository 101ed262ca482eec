"""Finds marked loops: `km: independent` or `km: reduction(op, variable)` in a comment before a canonical `for`."""

import re
from dataclasses import dataclass
from typing import Literal

import tree_sitter_c
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_c.language()))
_MARK = re.compile(r"km:\s*(independent|reduction\(\s*(\+|max)\s*,\s*([A-Za-z_]\w*)\s*\))")

Reduction = Literal["+", "max"]


@dataclass(frozen=True)
class MarkedLoop:
    """A marked innermost loop of the form `for (T i = START; i < BOUND; i++) BODY`."""

    start_byte: int
    """First byte of the `for`."""
    end_byte: int
    """Byte after its body."""
    index_type: str
    index: str
    start: str
    bound: str
    body: str
    """The statements of the body, without braces."""
    reduction: Reduction | None
    variable: str
    """The reduced variable; empty for an independent loop."""
    variable_type: str
    """Type in which the variable is declared."""
    arrays: tuple[str, ...]
    """Arrays that are read at exactly `[i]`, sorted."""


def parse(source: bytes) -> Node:
    """Return the root of the syntax tree."""
    return _PARSER.parse(source).root_node


def find_loops(source: bytes) -> list[MarkedLoop]:
    """Return the marked innermost loops in the order of the source; loops of another form are left out."""
    found = []
    for node in _walk(parse(source)):
        if node.type == "for_statement" and not any(child.type == "for_statement" for child in _inside(node)):
            loop = _marked(source, node)
            if loop is not None:
                found.append(loop)
    return found


def identifiers(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, name) of every identifier in a piece of C, in bytes of its UTF-8 form."""
    source = f"void km(void) {{{text}}}".encode()
    offset = len(b"void km(void) {")
    return [
        (node.start_byte - offset, node.end_byte - offset, node.text.decode())
        for node in _walk(parse(source))
        if node.type == "identifier" and node.text is not None and node.start_byte >= offset
    ]


def _walk(node: Node) -> list[Node]:
    nodes = [node]
    for child in node.children:
        nodes.extend(_walk(child))
    return nodes


def _inside(node: Node) -> list[Node]:
    return [inner for child in node.children for inner in _walk(child)]


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode()


def _marked(source: bytes, node: Node) -> MarkedLoop | None:
    comment = node.prev_sibling
    if comment is None or comment.type != "comment":
        return None
    mark = _MARK.search(_text(source, comment))
    header = _header(source, node)
    body = node.child_by_field_name("body")
    if mark is None or header is None or body is None:
        return None
    statements = _text(source, body)
    if body.type == "compound_statement":
        statements = statements.strip()[1:-1].strip()
    index_type, index, start, bound = header
    variable = mark.group(3) or ""
    reduction: Reduction | None = "+" if mark.group(2) == "+" else "max" if mark.group(2) == "max" else None
    return MarkedLoop(
        node.start_byte,
        node.end_byte,
        index_type,
        index,
        start,
        bound,
        statements,
        reduction,
        variable,
        _declared_type(source, node, variable),
        _arrays(source, body, index),
    )


def _header(source: bytes, node: Node) -> tuple[str, str, str, str] | None:
    declaration = node.child_by_field_name("initializer")
    condition = node.child_by_field_name("condition")
    update = node.child_by_field_name("update")
    if declaration is None or condition is None or update is None:
        return None
    opening = re.fullmatch(
        r"((?:const\s+)?[A-Za-z_]\w*)\s+([A-Za-z_]\w*)\s*=\s*(.+?);?", _text(source, declaration).strip()
    )
    if opening is None:
        return None
    index = opening.group(2)
    limit = re.fullmatch(rf"{index}\s*<\s*(.+)", _text(source, condition).strip(), re.DOTALL)
    steps = re.fullmatch(rf"{index}\+\+|\+\+{index}", _text(source, update).strip())
    if limit is None or steps is None:
        return None
    return opening.group(1), index, opening.group(3), limit.group(1)


def _declared_type(source: bytes, node: Node, variable: str) -> str:
    if not variable:
        return ""
    before = source[: node.start_byte].decode()
    found = re.findall(rf"\b(float|double)\s+{variable}\s*=", before)
    return found[-1] if found else "float"


def _arrays(source: bytes, body: Node, index: str) -> tuple[str, ...]:
    read = set()
    for node in _walk(body):
        if node.type != "subscript_expression":
            continue
        array, place = node.child_by_field_name("argument"), node.child_by_field_name("index")
        parent = node.parent
        written = parent is not None and parent.type == "assignment_expression" and parent.children[0] == node
        if array is None or place is None or written or array.type != "identifier":
            continue
        if _text(source, place).strip() == index:
            read.add(_text(source, array))
    return tuple(sorted(read))
