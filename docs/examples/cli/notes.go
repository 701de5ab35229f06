// Keeps notes, one per line. Build it with `go build notes.go`, and serve it with: mcp-sitter --cli ./notes
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const description = `{"tools": [
  {"name": "add", "description": "Keeps a note.",
   "parameters": {"type": "object", "required": ["text"],
     "properties": {"text": {"type": "string", "pattern": "^[^\\n]+$", "description": "one line"}}},
   "cli_command": ["add", "--", "{text}"]},
  {"name": "list", "description": "Lists the notes with their numbers.",
   "parameters": {"type": "object", "properties":
     {"filter": {"type": "string", "description": "what the notes must contain; all notes without it"}}},
   "cli_command": ["list", "--", "{filter}"], "ok_exit_codes": [1]}
]}`

func notes(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

func add(file, text string) error {
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := fmt.Fprintln(out, text); err != nil {
		return err
	}
	kept, err := notes(file)
	if err == nil {
		fmt.Println("note", len(kept), "is kept")
	}
	return err
}

func list(file, filter string) (found bool, err error) {
	kept, err := notes(file)
	for i, note := range kept {
		if strings.Contains(note, filter) {
			fmt.Printf("%d:%s\n", i+1, note)
			found = true
		}
	}
	return found, err
}

func main() {
	file := os.Getenv("NOTES_FILE")
	if file == "" {
		file = "notes.txt"
	}
	found := true
	var err error
	switch words := os.Args[1:]; {
	case len(words) == 3 && words[0] == "add" && words[1] == "--":
		err = add(file, words[2])
	case len(words) == 1 && words[0] == "list":
		found, err = list(file, "")
	case len(words) > 1 && len(words) < 4 && words[0] == "list" && words[1] == "--":
		found, err = list(file, strings.Join(words[2:], ""))
	case len(words) > 0 && words[0] == "schema":
		fmt.Println(description)
	default:
		err = errors.New("usage: notes add -- TEXT | list [-- FILTER] | schema")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notes:", err)
		os.Exit(2)
	}
	if !found {
		os.Exit(1)
	}
}
