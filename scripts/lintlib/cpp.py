# SPDX-License-Identifier: BSD-3-Clause
"""As much of C++ as the rules need: comments, strings, includes, and where functions begin and end.

Made for clang-formatted code: a body's brace has a space before it, an initialiser's has none.
"""
import re

_TOKENS = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<raw>R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')",
    re.S,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
_CONTROL = re.compile(r"\b(if|for|while|switch|catch|do|else|try|namespace|class|struct|union|enum)\b")


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def comments(text):
    """(position, text) of each comment, with its marks."""
    for match in _TOKENS.finditer(text):
        if match["comment"]:
            yield match.start(), match[0]


def without_comments(text):
    """Comments become spaces; line numbers stay."""
    return _TOKENS.sub(lambda m: _blank(m[0]) if m["comment"] else m[0], text)


def bare(text):
    """Comments, strings and preprocessor lines become spaces; line numbers stay."""

    def replace(match):
        if match["comment"]:
            return _blank(match[0])
        return '"' + _blank(match[0][1:-1]) + '"'

    text = _TOKENS.sub(replace, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: _blank(m[0]), text, flags=re.M)


def string_literals(text):
    """(line, value) of each ordinary string that is not the name of an included file."""
    for match in _TOKENS.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if match["string"] and not text[line_start : match.start()].lstrip().startswith("#"):
            yield text.count("\n", 0, match.start()) + 1, match["string"][1:-1]


def includes(text):
    """(line, quoted?, name) of each include."""
    for match in _INCLUDE.finditer(without_comments(text)):
        yield text.count("\n", 0, match.start()) + 1, match[1] == '"', match[2]


def _opens_function(header, brace_has_space):
    header = header.strip()
    if not brace_has_space or header.endswith(("=", ",", "(", "return")):
        return False
    if _CONTROL.search(header.split("(", 1)[0]):
        return False
    return "(" in header or header.endswith("]")


def functions(text):
    """(first line, lines, name) of each outermost function, lambda at file scope and test case."""
    text = bare(text)
    start, depth_in_function, first_line = 0, 0, 0
    name = ""
    for match in re.finditer(r"[{};]", text):
        at, token = match.start(), match[0]
        if depth_in_function:
            depth_in_function += {"{": 1, "}": -1, ";": 0}[token]
            if depth_in_function == 0:
                last_line = text.count("\n", 0, at) + 1
                yield first_line, last_line - first_line + 1, name
        elif token == "{" and _opens_function(text[start:at], text[at - 1].isspace()):
            header = text[start:at]
            begin = start + len(header) - len(header.lstrip())
            first_line = text.count("\n", 0, begin) + 1
            name = " ".join(header.split("(")[0].split()[-1:]) or "lambda"
            depth_in_function = 1
        start = at + 1
