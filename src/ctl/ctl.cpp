#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/text.hpp"
#include "help/commands.hpp"
#include "help/help.hpp"
#include "io/control/control_client.hpp"
#include "io/system/error_text.hpp"
#include "options/raw_options.hpp"
#include "probe/json_words.hpp"
#include "sitter/limits.hpp"
#include "terminal/format.hpp"

namespace sitter {
namespace {

using Json = nlohmann::ordered_json;

/// An error message for stderr.
struct Failure {
  std::string what;
};

struct Choice {
  std::string target;
  std::string cwd;
  bool as_json = false;
};

struct Running {
  ControlClient client;
  Json hello;
};

void print(std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                          (text.ends_with('\n') || std::fputc('\n', stdout) != EOF) &&
                          std::fflush(stdout) == 0;
  if (!is_written) throw Failure{fmt::format("stdout: {}", std::strerror(errno))};
}

std::string printed(const Json& json, bool on_one_line = false) {
  return printable_json(
      json.dump(on_one_line ? -1 : 2, ' ', false, Json::error_handler_t::replace));
}

bool answers(const Running& running) { return !running.hello.empty(); }

/// How long all bridges together may take to answer. A stopped bridge never answers, and a busy one
/// answers soon.
constexpr Milliseconds kAnswerWait{1000};

std::vector<Running> all_running(Instant by) {
  std::vector<Running> running;
  for (ControlClient& client : ControlClient::connect_to_all(by)) {
    Json hello = parsed_json(client.hello());
    if (!hello.is_object()) hello = Json::object();
    running.push_back({std::move(client), std::move(hello)});
  }
  return running;
}

/// The text that a tool returned, or an error message.
struct Answer {
  std::string text;
  bool is_error = false;
};

Answer ask(ControlClient& client, const std::string& command,
           const Json& arguments = Json::object(), bool follows = false,
           std::optional<Instant> by = {}) {
  Json request;
  request["command"] = command;
  request["arguments"] = arguments;
  if (follows) request["follow"] = true;
  const auto line = client.ask(request.dump(), by);
  if (!line) throw Failure{fmt::format("mcp-sitter {} has ended", client.pid())};
  const Json answer = parsed_json(*line);
  if (answer.is_object() && answer.contains("error")) {
    return {text_in(answer["error"], "message"), true};
  }
  try {
    const Json& result = answer.at("result");
    return {result.at("content").at(0).at("text").get<std::string>(),
            result.value("isError", false)};
  } catch (const Json::exception&) {
    throw Failure{
        fmt::format("mcp-sitter {} gave an invalid answer: {}", client.pid(), brief(*line, 200))};
  }
}

Json status_of(ControlClient& client, std::optional<Instant> by = {}) {
  const Answer answer = ask(client, "status", Json::object(), false, by);
  Json status = parsed_json(answer.text);
  if (!status.is_object()) throw Failure{answer.text};
  return status;
}

std::string words_of(const Json& hello) {
  std::string words = text_in(hello, "command");
  for (const Json& argument : hello.value("args", Json::array())) {
    if (argument.is_string()) words += ' ' + argument.get<std::string>();
  }
  return words;
}

std::string age(const Json& seconds) {
  if (!seconds.is_number_integer()) return "-";
  return duration_text(std::chrono::seconds(seconds.get<std::int64_t>()));
}

std::string number(const Json& value) {
  return value.is_number_integer() ? std::to_string(value.get<std::int64_t>()) : "-";
}

std::string or_dash(std::string text) { return text.empty() ? "-" : one_line(text); }

int list(bool as_json) {
  Json shown = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"PID", "NAME", "STATE", "CHILD", "SINCE", "CWD", "COMMAND"}};
  const Instant by = Instant::clock::now() + kAnswerWait;
  // Half of the time is for those that say nothing at all, so that the others are asked.
  for (Running& running : all_running(by - kAnswerWait / 2)) {
    Json status;
    try {
      if (answers(running)) status = status_of(running.client, by);
    } catch (const Failure&) {
      if (Instant::clock::now() < by) continue;  // It has ended meanwhile.
    }
    if (status.empty()) {
      rows.push_back(
          {std::to_string(running.client.pid()), "-", "does not answer", "-", "-", "-", "-"});
      shown.push_back({{"pid", running.client.pid()}, {"state", "does not answer"}});
      continue;
    }
    Json one;
    one["pid"] = running.client.pid();
    one["name"] = text_in(running.hello, "name");
    one["state"] = status["childState"];
    one["childPid"] = status["childPid"];
    one["childUptimeSeconds"] = status["childUptimeSeconds"];
    one["uptimeSeconds"] = status["sitterUptimeSeconds"];
    one["cwd"] = text_in(running.hello, "cwd");
    one["command"] = text_in(running.hello, "command");
    one["args"] = running.hello.value("args", Json::array());
    rows.push_back({std::to_string(running.client.pid()), or_dash(one["name"]),
                    or_dash(text_in(status, "childState")), number(one["childPid"]),
                    age(one["uptimeSeconds"]), or_dash(one["cwd"]),
                    or_dash(words_of(running.hello))});
    shown.push_back(std::move(one));
  }
  if (as_json) {
    print(printed(shown));
  } else if (rows.size() == 1) {
    print("no mcp-sitter of yours is running");
  } else {
    print(table(rows));
  }
  return 0;
}

std::string folder_of(const std::string& given) {
  std::error_code error;
  auto path = std::filesystem::canonical(given, error);
  if (error) throw Failure{fmt::format("--cwd {}: {}", given, error_text(error))};
  return path.generic_string();
}

bool is_in(const Json& hello, const std::string& folder) {
  std::error_code error;
  return std::filesystem::canonical(text_in(hello, "cwd"), error) == folder && !error;
}

/// The bridge that the user has chosen.
Running chosen(const Choice& choice) {
  std::vector<Running> fitting;
  const std::string folder = choice.cwd.empty() ? std::string() : folder_of(choice.cwd);
  bool is_one_silent = false;
  for (Running& running : all_running(Instant::clock::now() + kAnswerWait)) {
    is_one_silent |= !answers(running);
    const bool is_meant = choice.target.empty() ||
                          choice.target == std::to_string(running.client.pid()) ||
                          choice.target == text_in(running.hello, "name");
    // The directory and the name of a bridge that does not answer are unknown.
    const bool may_be_meant = !answers(running) && (choice.target.empty() || is_meant);
    if (may_be_meant || (is_meant && (folder.empty() || is_in(running.hello, folder)))) {
      fitting.push_back(std::move(running));
    }
  }
  if (fitting.size() == 1) {
    if (answers(fitting.front())) return std::move(fitting.front());
    throw Failure{
        fmt::format("mcp-sitter {} does not answer; it is stopped, or has too many "
                    "connections",
                    fitting.front().client.pid())};
  }
  std::string which = choice.target.empty() ? "" : fmt::format(" '{}'", one_line(choice.target));
  if (!folder.empty()) which += fmt::format(" in {}", one_line(folder));
  if (fitting.empty()) {
    throw Failure{fmt::format(
        "no mcp-sitter{} of yours {}; mcp-sitter ctl list shows all", which,
        is_one_silent ? "answers, and one whose name is unknown is silent" : "is running")};
  }
  std::vector<std::string> pids;
  for (const Running& running : fitting) pids.push_back(std::to_string(running.client.pid()));
  throw Failure{fmt::format("{} mcp-sitters{} of yours are running: choose one by its pid: {}",
                            fitting.size(), which, fmt::join(pids, ", "))};
}

int show(const Answer& answer, bool as_json, bool on_one_line = false) {
  if (as_json) {
    Json json;
    json["isError"] = answer.is_error;
    json["text"] = answer.text;
    print(printed(json, on_one_line));
  } else {
    print(readable(answer.text));
  }
  return answer.is_error ? kFailed : 0;
}

void add_row(std::vector<std::vector<std::string>>& rows, const char* name, std::string text) {
  rows.push_back({name, or_dash(std::move(text))});
}

int status(const Choice& choice) {
  Running running = chosen(choice);
  Json shown = status_of(running.client);
  if (choice.as_json) {
    print(printed(shown));
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  add_row(rows, "mcp-sitter",
          fmt::format("{} {} (pid {}), for {}", text_in(shown, "sitterVersion"),
                      text_in(running.hello, "name"), running.client.pid(),
                      age(shown["sitterUptimeSeconds"])));
  add_row(rows, "command", words_of(running.hello));
  add_row(rows, "cwd", text_in(running.hello, "cwd"));
  add_row(rows, "state", text_in(shown, "childState"));
  add_row(rows, "child",
          fmt::format("{}, for {}", number(shown["childPid"]), age(shown["childUptimeSeconds"])));
  add_row(rows, "starts", number(shown["spawnCount"]));
  add_row(rows, "last end", text_in(shown, "lastKillReason"));
  const Json& failure = shown["lastFailure"];
  add_row(rows, "last failure", failure.is_object() ? text_in(failure, "what") : "");
  const Json& build = shown["build"];
  if (build.is_object()) {
    add_row(rows, "build",
            fmt::format("{}: {}", text_in(build, "command"),
                        build["running"] == true ? std::string("running")
                                                 : or_dash(text_in(build, "lastResult"))));
  }
  const Json& watch = shown["watch"];
  if (watch.is_object()) {
    std::vector<std::string> patterns = watch["patterns"];
    if (watch["binary"] == true) patterns.emplace_back("the binary");
    add_row(rows, "watch",
            fmt::format("{} ({})", fmt::join(patterns, ", "),
                        counted(static_cast<std::size_t>(number_in(watch, "folders")), "folder")));
    if (watch.contains("unmatched")) {
      add_row(
          rows, "no file matches",
          fmt::format("{}", fmt::join(watch["unmatched"].get<std::vector<std::string>>(), ", ")));
    }
  }
  print(table(rows));
  return 0;
}

int kill(const Choice& choice) {
  Running running = chosen(choice);
  const Answer answer = ask(running.client, "kill");
  const Json report = parsed_json(answer.text);
  if (answer.is_error || !report.is_object()) return show(answer, choice.as_json);
  if (choice.as_json) {
    print(printed(report));
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"PID", "WHAT", "HOW", "COMMAND"}};
  for (const Json& one : report["killed"]) {
    rows.push_back({number(one["pid"]), or_dash(text_in(one, "relation")),
                    or_dash(text_in(one, "how")), or_dash(text_in(one, "command"))});
  }
  for (const Json& one : report.value("leftAlone", Json::array())) {
    rows.push_back({number(one["pid"]), "left alone", or_dash(text_in(one, "reason")),
                    or_dash(text_in(one, "command"))});
  }
  if (rows.size() > 1) print(table(rows));
  const std::string note = text_in(report, "note");
  if (!note.empty()) print(note);
  if (rows.size() == 1 && note.empty()) print("no process was running");
  return 0;
}

int show_stderr(const Choice& choice, int lines, const std::string& grep, bool follows) {
  Running running = chosen(choice);
  Json arguments;
  arguments["lines"] = lines;
  if (!grep.empty()) arguments["grep"] = grep;
  // With --follow, each printed line must be a JSON text of its own.
  const Answer answer = ask(running.client, "stderr", arguments, follows);
  if (answer.is_error) throw Failure{answer.text};
  show(answer, choice.as_json, follows);
  while (follows) {
    const auto line = running.client.next_line();
    if (!line) break;
    if (choice.as_json) {
      print(printable_json(*line));
    } else {
      print(readable(text_in(parsed_json(*line), "line")));
    }
  }
  return 0;
}

bool is_command(const CLI::App& app, const std::string& word) {
  const auto has_name = [&](const CLI::App* command) { return command->get_name() == word; };
  return !app.get_subcommands(has_name).empty();
}

int run(const std::vector<std::string>& words) {
  CLI::App app("Shows and controls the running mcp-sitters of this user.");
  app.set_help_flag("-h,--help", "print this and exit");
  app.require_subcommand(1);
  Choice choice;
  int lines = 200;
  std::string grep;
  std::string mode = "swap";
  bool follows = false;
  const auto command = [&](const char* name, const char* about, bool has_target = true) {
    CLI::App* const added = app.add_subcommand(name, about);
    added->add_flag("--json", choice.as_json, "print JSON for scripts");
    if (!has_target) return added;
    added
        ->add_option("target", choice.target,
                     "pid or name of the mcp-sitter; not needed if only one runs")
        ->type_name("PID|NAME")
        ->check(not_empty());
    added
        ->add_option("--cwd", choice.cwd,
                     "choose the mcp-sitter whose server runs in this directory")
        ->type_name("DIR")
        ->check(not_empty());
    return added;
  };
  CLI::App* const list_command = command("list", "show all running mcp-sitters", false);
  CLI::App* const status_command = command("status", "show the state of an mcp-sitter");
  command("reload", "build, replace the server, and print the result")
      ->add_option("--mode", mode, "what happens first (default swap)")
      ->type_name("swap|kill-first")
      ->check(one_of({"swap", "kill-first"}));
  CLI::App* const kill_command = command("kill", "end the server until the next request");
  CLI::App* const stderr_command = command("stderr", "show what the server wrote to stderr");
  stderr_command
      ->add_option("--lines", lines, "how many of the newest lines, 1 to 1000 (default 200)")
      ->type_name("N")
      ->check(whole_number(1, static_cast<int>(limits::kShownLinesMax)));
  stderr_command->add_option("--grep", grep, "only lines that match (RE2 syntax)")
      ->type_name("PATTERN");
  stderr_command->add_flag("--follow,-f", follows, "also show new lines as the server writes them");
  if (!words.empty() && !words.front().starts_with('-') && !is_command(app, words.front())) {
    fmt::print(
        stderr,
        "mcp-sitter ctl: there is no command '{}', only list, status, reload, kill and stderr\n",
        one_line(words.front()));
    return kUsageError;
  }
  try {
    // The parser expects its words in reverse order.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    const auto chosen_commands = app.get_subcommands();
    if (chosen_commands.empty()) {
      print(command_help(app, "  mcp-sitter ctl COMMAND [options]\n"));
    } else {
      const CLI::App& asked = *chosen_commands.front();
      const bool has_target = &asked != list_command;
      print(command_help(asked, fmt::format("  mcp-sitter ctl {} [options]{}\n", asked.get_name(),
                                            has_target ? " [PID|NAME]" : "")));
    }
    return 0;
  } catch (const CLI::ParseError& error) {
    const auto chosen_commands = app.get_subcommands();
    fmt::print(stderr, "mcp-sitter ctl: {}; see mcp-sitter ctl --help\n",
               wrong_words(chosen_commands.empty() ? app : *chosen_commands.front(), words, error));
    return kUsageError;
  }
  if (*list_command) return list(choice.as_json);
  if (*status_command) return status(choice);
  if (*kill_command) return kill(choice);
  if (*stderr_command) return show_stderr(choice, lines, grep, follows);
  Running running = chosen(choice);
  return show(ask(running.client, "reload", {{"mode", mode}}), choice.as_json);
}

}  // namespace

int run_ctl(const std::vector<std::string>& words) {
  try {
    return run(words);
  } catch (const Failure& failure) {
    fmt::print(stderr, "mcp-sitter ctl: {}\n", readable(failure.what));
    return kFailed;
  }
}

}  // namespace sitter
