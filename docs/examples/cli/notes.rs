//! Keeps notes, one per line. Build it with `rustc notes.rs`, and serve it with: mcp-sitter --cli ./notes

use std::io::{self, Write};
use std::process::ExitCode;
use std::{env, fs};

const DESCRIPTION: &str = r#"{"tools": [
  {"name": "add", "description": "Keeps a note.",
   "parameters": {"type": "object", "required": ["text"],
     "properties": {"text": {"type": "string", "pattern": "^[^\\n]+$", "description": "one line"}}},
   "cli_command": ["add", "--", "{text}"]},
  {"name": "list", "description": "Lists the notes with their numbers.",
   "parameters": {"type": "object", "properties":
     {"filter": {"type": "string", "description": "what the notes must contain; all notes without it"}}},
   "cli_command": ["list", "--", "{filter}"], "ok_exit_codes": [1]}
]}"#;

fn notes(file: &str) -> io::Result<Vec<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text.split_terminator('\n').map(String::from).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn add(file: &str, text: &str) -> io::Result<ExitCode> {
    let mut out = fs::OpenOptions::new().append(true).create(true).open(file)?;
    // One write, so that notes of calls that run at once do not mix.
    out.write_all(format!("{text}\n").as_bytes())?;
    println!("note {} is kept", notes(file)?.len());
    Ok(ExitCode::SUCCESS)
}

/// Ends with 1 if no note is found, as grep does.
fn list(file: &str, filter: &str) -> io::Result<ExitCode> {
    let mut code = 1;
    for (i, note) in notes(file)?.iter().enumerate() {
        if note.contains(filter) {
            println!("{}:{note}", i + 1);
            code = 0;
        }
    }
    Ok(ExitCode::from(code))
}

fn run(words: &[&str]) -> io::Result<ExitCode> {
    let named = env::var("NOTES_FILE").unwrap_or_default();
    let file = if named.is_empty() { "notes.txt" } else { &named };
    match words {
        ["add", "--", text] => add(file, text),
        ["list"] | ["list", "--"] => list(file, ""),
        ["list", "--", filter] => list(file, filter),
        ["schema", ..] => {
            println!("{DESCRIPTION}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("usage: notes add -- TEXT | list [-- FILTER] | schema");
            Ok(ExitCode::from(2))
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(&words).unwrap_or_else(|error| {
        eprintln!("notes: {error}");
        ExitCode::from(2)
    })
}
