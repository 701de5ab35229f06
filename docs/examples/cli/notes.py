#!/usr/bin/env python3
"""Keeps notes, one per line. Serve it with: mcp-sitter --cli ./notes.py"""

import json
import os
import sys

FILE = os.environ.get("NOTES_FILE") or "notes.txt"

TOOLS = [
    {
        "name": "add",
        "description": "Keeps a note.",
        "parameters": {
            "type": "object",
            "required": ["text"],
            "properties": {
                "text": {"type": "string", "pattern": r"^[^\n]+$", "description": "one line"},
            },
        },
        "cli_command": ["add", "--", "{text}"],
    },
    {
        "name": "list",
        "description": "Lists the notes with their numbers.",
        "parameters": {
            "type": "object",
            "properties": {
                "filter": {
                    "type": "string",
                    "description": "what the notes must contain; all notes without it",
                },
            },
        },
        "cli_command": ["list", "--", "{filter}"],
        "ok_exit_codes": [1],
    },
]


def notes():
    if not os.path.exists(FILE):
        return []
    with open(FILE, encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def add(text):
    with open(FILE, "a", encoding="utf-8", newline="\n") as file:
        file.write(text + "\n")
    print("note", len(notes()), "is kept")


def main(words):
    match words:
        case ["add", "--", text]:
            add(text)
        case ["list"] | ["list", "--"] | ["list", "--", _]:
            wanted = "".join(words[2:])
            found = [f"{i}:{note}" for i, note in enumerate(notes(), 1) if wanted in note]
            print(*found, sep="\n", end="\n" if found else "")
            return 0 if found else 1
        case ["schema", *_]:
            print(json.dumps({"tools": TOOLS}))
        case _:
            print("usage: notes.py add -- TEXT | list [-- FILTER] | schema", file=sys.stderr)
            return 2


try:
    sys.exit(main(sys.argv[1:]))
except OSError as error:
    print(f"notes.py: {error}", file=sys.stderr)
    sys.exit(2)
