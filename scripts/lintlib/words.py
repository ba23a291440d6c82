# SPDX-License-Identifier: BSD-3-Clause
"""What a comment's or a document's words must not be like. Each rule yields lines "path:line: what is wrong"."""
import io
import re
import tokenize

from lintlib import cpp, tree

COLUMNS = 120  # of a line in a document
INDENT = 8     # of a comment's line that continues an aligned one
# A label that belongs at the beginning of its line, and after it, if its text is aligned, at least two spaces.
_LABEL = r"(?:Errors|Threads|Ownership|Blocking|Order|Memory|Lifetime|Fairness|Loss|Rules?|Requires|Returns|usage)"
_SWALLOWED = re.compile(rf"(?<=[^.:;?!)\"\s]) +({_LABEL}): |\S +((?:{_LABEL}|in|out)): {{2,}}")
# At the beginning of a comment, behind the dash of a file's first line, or of a sentence.
_WHO = re.compile(r"(?:(?:^|(?<= -- ))(?i:who|whoever)|(?<=[.!?] )(?:Who|Whoever)) [^.!?]*[.!?]?")
_SHELL = re.compile(r"#!.*\b(?:ba|da)?sh\b")


def _cpp_comments(text):
    """(line, own line?, words) of each line of each comment."""
    for start, comment in cpp.comments(text):
        before = text[text.rfind("\n", 0, start) + 1 : start]
        for number, line in enumerate(comment.split("\n"), text.count("\n", 0, start) + 1):
            yield number, not before.strip(), re.sub(r"^\s*(?:///?|/?\*+/?) ?|\s*\*/$", "", line)


def _python_comments(text):
    lines = text.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError):
        return  # check_python reports it
    for token in tokens:
        own = not lines[token.start[0] - 1][: token.start[1]].strip()
        if token.type == tokenize.COMMENT:
            yield token.start[0], own, token.string.lstrip("#").removeprefix(" ")
        elif token.type == tokenize.STRING and own and token.string.startswith('"""'):
            for number, line in enumerate(token.string.strip('"').split("\n"), token.start[0]):
                yield number, True, line.strip()


def _shell_comments(text):
    for number, line in enumerate(text.split("\n"), 1):
        found = re.search(r"(?:^|\s)#(?!!) ?(.*)$", line)
        if found:
            yield number, not line[: found.start()].strip(), found[1]


def _comments(path, text):
    if path.endswith(tree.CPP):
        return _cpp_comments(text)
    if path.endswith(".py") or re.match(r"#!.*python", text):
        return _python_comments(text)
    if path.endswith(".sh") or _SHELL.match(text):
        return _shell_comments(text)
    return ()


def _paragraphs(comments):
    """Lines that follow each other, joined: [(line, words), ...]."""
    lines = []
    for number, own, words in comments:
        words = "" if words.startswith("SPDX-") else words
        if lines and not (own and number == lines[-1][0] + 1 and words.strip()):
            yield lines
            lines = []
        if words.strip():
            lines.append((number, words))
        if not own and lines:
            yield lines
            lines = []
    if lines:
        yield lines


def check_labels(files):
    """A label that a formatter has moved into the middle of a line is overlooked."""
    for path in files.paths():
        for number, _, words in _comments(path, files.text(path)):
            found = _SWALLOWED.search(words)
            if found:
                yield f"{path}:{number}: '{found[1] or found[2]}:' begins a line of its own"


def check_continuations(files):
    """The rest of an aligned line that a formatter has cut off from it: indented, under nothing."""
    for path in files.cpp():
        above, above_number = "", 0
        for number, own, words in _comments(path, files.text(path)):
            indent = len(words) - len(words.lstrip())
            if indent >= INDENT and own and number == above_number + 1 and above.strip():
                aligned = len(above) > indent and above[indent] != " " and above[indent - 1] == " "
                if not aligned and not above.startswith(" " * INDENT):
                    yield f"{path}:{number}: continues no line: '{words.strip()[:30]}' stands under nothing"
            above, above_number = (words, number) if own else ("", 0)


def check_who(files):
    """ "Who asks is told" is read twice: say who it is, as in "the caller is told"."""
    for path in files.paths():
        for lines in _paragraphs(_comments(path, files.text(path))):
            text = " ".join(words for _, words in lines)
            for found in _WHO.finditer(text):
                if found[0].endswith("?"):
                    continue
                left = found.start()
                for number, words in lines:
                    if left <= len(words):
                        break
                    left -= len(words) + 1
                yield f"{path}:{number}: '{found[0][:30]}' is no subject: name it"


def check_columns(files):
    for path in files.paths():
        if not path.endswith(".md"):
            continue
        for number, line in enumerate(files.text(path).split("\n"), 1):
            if len(line) > COLUMNS and not line.startswith("|") and "://" not in line:
                yield f"{path}:{number}: {len(line)} columns; a document's line has at most {COLUMNS}"
