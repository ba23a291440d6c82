# SPDX-License-Identifier: BSD-3-Clause
"""How long files and functions are. Hard limits are rules; the soft ones feed the ratchet."""
import ast

from lintlib import cpp, tree

FILE_HARD, FILE_SOFT = 500, 250
FUNCTION_HARD, FUNCTION_SOFT = 70, 30
_COUNTED = tree.CPP + (".py",)


def file_lengths(files):
    for path in files.paths():
        text = files.text(path)
        if path.endswith(_COUNTED) or text.startswith("#!"):
            yield path, text.count("\n")


def _python_functions(text):
    try:
        parsed = ast.parse(text)
    except SyntaxError:
        return  # a rule of its own reports it
    for node in ast.walk(parsed):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1, node.name


def function_lengths(files):
    """(path, first line, lines, name)"""
    for path in files.paths():
        text = files.text(path)
        if path.endswith(tree.CPP):
            found = cpp.functions(text)
        elif path.endswith(".py") or text.startswith("#!/usr/bin/env python3"):
            found = _python_functions(text)
        else:
            continue
        for line, lines, name in found:
            yield path, line, lines, name


def counts(files):
    """What the ratchet holds: product and tests apart."""
    result = {}
    for kind in ("product", "tests"):
        lengths = [n for path, n in file_lengths(files) if tree.is_test(path) == (kind == "tests")]
        bodies = [n for path, _, n, _ in function_lengths(files) if tree.is_test(path) == (kind == "tests")]
        result[kind] = {
            f"files_over_{FILE_SOFT}": sum(n > FILE_SOFT for n in lengths),
            f"functions_over_{FUNCTION_SOFT}": sum(n > FUNCTION_SOFT for n in bodies),
            "longest_file": max(lengths, default=0),
            "longest_function": max(bodies, default=0),
        }
    return result


def listing(files):
    for path, lines in sorted(file_lengths(files), key=lambda each: -each[1]):
        if lines > FILE_SOFT:
            yield f"{lines:4} {path}"
    for path, line, lines, name in sorted(function_lengths(files), key=lambda each: -each[2]):
        if lines > FUNCTION_SOFT:
            yield f"{lines:4} {path}:{line} {name}"
