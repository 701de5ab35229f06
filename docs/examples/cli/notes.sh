#!/usr/bin/env bash
# Keeps notes, one per line. Serve it with: mcp-sitter --cli ./notes.sh
set -eu
file=${NOTES_FILE:-notes.txt}

case ${1-} in
  add)
    printf '%s\n' "$3" >>"$file"
    echo "note $(($(wc -l <"$file"))) is kept"
    ;;
  list)
    [ -e "$file" ] || exit 1
    grep -nF -- "${3-}" "$file"
    ;;
  schema)
    cat <<'JSON'
{"tools": [
  {"name": "add", "description": "Keeps a note.",
   "parameters": {"type": "object", "required": ["text"],
     "properties": {"text": {"type": "string", "pattern": "^[^\\n]+$", "description": "one line"}}},
   "cli_command": ["add", "--", "{text}"]},
  {"name": "list", "description": "Lists the notes with their numbers.",
   "parameters": {"type": "object", "properties":
     {"filter": {"type": "string", "description": "what the notes must contain; all notes without it"}}},
   "cli_command": ["list", "--", "{filter}"], "ok_exit_codes": [1]}
]}
JSON
    ;;
  *)
    echo "usage: notes.sh add -- TEXT | list [-- FILTER] | schema" >&2
    exit 2
    ;;
esac
