"""Keys that --set takes and their words, and the names of schemes, from the JSON Schemas that the programs print."""

import json
import subprocess

DEEPEST = 4


def schema(program, *words, runner=()):
    return json.loads(subprocess.run([*runner, str(program), *words], capture_output=True, text=True, check=True).stdout)


def branches(node, defs):
    """All that a value may be."""
    if "$ref" in node:
        node = {**defs[node["$ref"].rpartition("/")[2]], **{key: value for key, value in node.items() if key != "$ref"}}
    return [leaf for part in node["anyOf"] for leaf in branches(part, defs)] if "anyOf" in node else [node]


def words_of(node):
    if "const" in node:
        return [node["const"]]
    if node.get("type") == "boolean":
        return ["true", "false"]
    return node.get("enum", [])


def walk(node, defs, path, found):
    """Adds KEY: words for every key below, keys with dots; lists and maps by name are not entered."""
    for branch in branches(node, defs):
        if path:
            found.setdefault(".".join(path), [])
            found[".".join(path)] += [str(word) for word in words_of(branch) if str(word) not in found[".".join(path)]]
        if len(path) < DEEPEST:
            for key, below in branch.get("properties", {}).items():
                walk(below, defs, [*path, key], found)


def settings(document):
    """KEY: its words, for every key of a document that --set can name."""
    found = {}
    walk(document, document.get("$defs", {}), [], found)
    parents = {key.rpartition(".")[0] for key in found}
    return {key: words for key, words in sorted(found.items())
            if (words or key not in parents) and key.partition(".")[0] not in ("sizes", "matrix", "expect", "id", "title", "source")}
