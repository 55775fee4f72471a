#!/usr/bin/env python3
"""A plugin of stacks: lines of a file, each marked with the key that it was made under."""

import fcntl
import json
import os
import sys

TYPES = {
    "Example::Line": {
        "description": "A line of a file.",
        "properties": {
            "path": {"type": "string", "description": "The file; its directory is there.", "required": True},
            "text": {"type": "string", "description": "What the line says.", "required": True, "updatable": True},
        },
        "attributes": {
            "length": {"type": "integer", "description": "How many characters it has."},
        },
        "verbs": ["update", "check", "get", "adopt"],
        "example": {
            "create": {"path": "${workdir}/lines", "text": "one"},
            "update": {"text": "two"},
            "replace": {"path": "${workdir}/other"},
        },
    }
}


class Failed(Exception):
    pass


class Lines:
    """The lines of a file, by their marks. Nobody else changes it meanwhile."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        try:
            self.lock = open(f"{self.path}.lock", "w", encoding="utf-8")
        except OSError as error:
            raise Failed(f"{self.path}: {error.strerror}") from error
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.known = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                pairs = (line.rstrip("\n").partition("\t") for line in file)
                self.known = {mark: text for mark, _, text in pairs}
        self.before = dict(self.known)
        return self.known

    def __exit__(self, *_):
        if self.known != self.before:
            # Whoever is killed leaves the file as it was, or as it is to be.
            with open(f"{self.path}.new", "w", encoding="utf-8") as file:
                file.writelines(f"{mark}\t{text}\n" for mark, text in self.known.items())
            os.replace(f"{self.path}.new", self.path)
        self.lock.close()


def place(request):
    """Where the object is: the file and the mark."""
    prior = request.get("prior") or {}
    if prior.get("reference"):
        path, _, mark = prior["reference"].rpartition("#")
        return path, mark
    # Nobody knows whether it was made: the key that it would have been made under says which one it is.
    key = prior.get("key") or request["key"]
    return request["properties"]["path"], key.replace("\t", " ")


def done(path, mark, text):
    return {
        "reply": "done",
        "reference": f"{path}#{mark}",
        "attributes": {"length": len(text)},
        "properties": {"path": path, "text": text},
    }


def perform(request):
    known = TYPES[request["type"]]["properties"]
    strange = [name for name in request["properties"] if name not in known]
    if strange:
        raise Failed(f"there is no property {strange[0]}")
    verb, (path, mark) = request["verb"], place(request)
    text = request["properties"].get("text", "")
    if "\n" in text:
        raise Failed("a line has one line")
    if verb != "create" and not os.path.exists(path):
        return {"reply": "not_found"}
    with Lines(path) as lines:
        if verb == "create":
            lines[mark] = text
        elif mark not in lines:
            return {"reply": "not_found"}
        elif verb == "update":
            lines[mark] = text
        elif verb == "delete":
            del lines[mark]
            return {"reply": "done"}
        return done(path, mark, lines[mark])


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if request["verb"] == "hello":
            reply = {"reply": "hello", "protocol": 1, "types": TYPES}
        else:
            try:
                reply = perform(request)
            except Failed as failed:
                reply = {"reply": "failed", "reason": str(failed)}
        print(json.dumps({"id": request["id"], **reply}), flush=True)


main()
