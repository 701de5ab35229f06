#include "demo/story.hpp"

namespace sitter {
namespace {

// It runs in Windows PowerShell 5.1, which every Windows 10 has, and in PowerShell 7.
constexpr std::string_view kServer =
    R"ps(# A small MCP server. It reads one message per line, and answers on stdout.
$ErrorActionPreference = 'Stop'

function Get-Tools {
  tool add_note 'Keeps a note' text
  tool list_notes 'Shows all notes'
}

function list_notes { Get-Content notes.txt }
function add_note($text) { Add-Content notes.txt $text; 'kept' }

# tool NAME DESCRIPTION [PARAMETER]: one entry of the list of tools.
function tool($name, $description, $parameter) {
  $schema = @{ type = 'object' }
  if ($parameter) {
    $schema.properties = @{ $parameter = @{ type = 'string' } }
    $schema.required = @($parameter)
  }
  @{ name = $name; description = $description; inputSchema = $schema }
}

function answer($result) {
  $line = @{ jsonrpc = '2.0'; id = $message.id; result = $result } | ConvertTo-Json -Depth 9 -Compress
  [Console]::Out.Write("$line`n")
}

while ($null -ne ($line = [Console]::In.ReadLine())) {
  $message = $line | ConvertFrom-Json
  switch ($message.method) {
    'initialize' {
      answer @{
        protocolVersion = '2025-11-25'
        capabilities = @{ tools = @{ listChanged = $true } }
        serverInfo = @{ name = 'notes'; version = '1' }
      }
    }
    'tools/list' { answer @{ tools = @(Get-Tools) } }
    'tools/call' {
      $words = @($message.params.arguments.PSObject.Properties | ForEach-Object { $_.Value })
      $text = (& $message.params.name @words) -join "`n"
      answer @{ content = @(@{ type = 'text'; text = $text }) }
    }
  }
}
)ps";

}  // namespace

StoryServer story_server() {
  return {
      .words = {"--build", "copy /y notes.ps1 server.ps1", "--watch", "notes.ps1", "--",
                "powershell", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File", "server.ps1"},
      .source_file = "notes.ps1",
      .program_file = "server.ps1",
      .source = kServer,
      .addition = {{"all notes'\n", "all notes'\n  tool search_notes 'Finds notes' query\n"},
                   {"Get-Content notes.txt }\n",
                    "Get-Content notes.txt }\n"
                    "function search_notes($query) {\n"
                    "  Select-String $query notes.txt -CaseSensitive | ForEach-Object { "
                    "\"$($_.LineNumber):$($_.Line)\" }\n"
                    "}\n"}},
      .bug = {"Select-String $query notes.txt -CaseSensitive", "Slect-String $query notes.txt"},
      .fix = {"Slect-String", "Select-String"},
      // The rest of the message is in the language of the user.
      .last_words = {"Slect-String"}};
}

}  // namespace sitter
