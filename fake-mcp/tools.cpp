#include "tools.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include "input.hpp"
#include "json.hpp"
#include "process.hpp"
#include "results.hpp"

namespace sitter::fake {
namespace {

using std::chrono::milliseconds;

/// The answer of one call. It keeps the id, so that it may outlive the request's line.
class Reply {
 public:
  Reply(Session& session, std::string_view id) : session_(session), id_(id) {}

  const std::string& id() const { return id_; }

  /// Answers with a result that has these raw members.
  void members(std::string members) const {
    if (session_.options.invalid_utf8 && !session_.record.wrote_invalid_utf8) {
      constexpr std::string_view kText = "\"text\":\"";
      const std::size_t at = members.find(kText);
      if (at != std::string::npos) {
        members.insert(at + kText.size(), "\xC0\xFF");
        session_.record.wrote_invalid_utf8 = true;
      }
    }
    std::string result = '{' + members + '}';
    if (session_.era != Era::legacy) result = modern_result(session_.options, std::move(result));
    raw_result(result);
  }

  /// Answers with a raw result that is not complete.
  void raw_result(std::string_view result) const { session_.output.answer(id_, result); }

  /// Answers with one block of text, given as a JSON string.
  void raw_text(std::string_view json_string, std::string_view more_members = {}) const {
    std::string result = R"("content":[{"type":"text","text":)";
    members(result.append(json_string).append("}]").append(more_members));
  }

  void text(std::string_view text, std::string_view more_members = {}) const {
    raw_text(json_quoted(text), more_members);
  }

  void error(long long code, std::string_view message) const {
    session_.output.error(id_, code, message);
  }

 private:
  Session& session_;
  std::string id_;
};

/// One tools/call. It is valid only as long as its line.
struct Call {
  Session& session;
  Reply reply;
  std::string_view params;
  std::string_view arguments;

  std::string_view raw(std::string_view name) const { return member(arguments, name); }
  bool has(std::string_view name) const { return !raw(name).empty(); }
  bool flag(std::string_view name) const { return raw(name) == "true"; }
  long long integer(std::string_view name, long long fallback) const {
    return integer_of(raw(name), fallback);
  }
  milliseconds delay(std::string_view name) const {
    return milliseconds(std::clamp(integer(name, 0), 0LL, 86'400'000LL));
  }
  /// The text of a string, or any other value as it is spelt.
  std::string text(std::string_view name) const {
    const std::string_view value = raw(name);
    return value.starts_with('"') ? text_of(value) : std::string(value);
  }
};

std::string spelt(double value) {
  char digits[32];
  return {digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr};
}

void echo(const Call& call) {
  const std::string_view text = call.raw("text");
  if (text.starts_with('"')) return call.reply.raw_text(text);
  call.reply.text(text);
}

void add(const Call& call) {
  const auto number = [&](std::string_view name) { return std::atof(call.text(name).c_str()); };
  call.reply.text(spelt(number("a") + number("b")));
}

void sleep(const Call& call) {
  call.session.agenda.after(call.delay("ms"), call.reply.id(),
                            [reply = call.reply] { reply.text("slept"); });
}

void hang(const Call&) {}

void crash(const Call& call) {
  std::optional<int> signal;
  if (call.has("signal")) {
    signal = signal_by_name(call.text("signal"));
    if (!signal) return call.reply.error(kInvalidParams, "no such signal");
  }
  const int code = static_cast<int>(call.integer("code", 1));
  const auto end = [signal, code, words = call.text("stderr")] {
    if (!words.empty()) say(words);
    if (signal) {
      die_of(*signal);
    } else {
      exit_now(code);
    }
  };
  // A cancellation must not stop a crash, so this work belongs to no request.
  if (call.has("after_ms")) return call.session.agenda.after(call.delay("after_ms"), {}, end);
  end();
}

void answer_then_exit(const Call& call) {
  call.reply.text("last words");
  exit_now(static_cast<int>(call.integer("code", 0)));
}

void big(const Call& call) {
  const auto bytes = static_cast<std::size_t>(std::max(call.integer("bytes", 0), 0LL));
  call.reply.raw_text('"' + std::string(bytes, 'x') + '"');
}

void progress(const Call& call) {
  const long long steps = call.integer("steps", 3);
  const milliseconds interval = call.delay("interval_ms");
  const std::string token(member(member(call.params, "_meta"), "progressToken"));
  const auto report = [&output = call.session.output, token, steps](long long step) {
    if (token.empty()) return;
    output.notify("notifications/progress", object_of({{"progressToken", token},
                                                       {"progress", std::to_string(step)},
                                                       {"total", std::to_string(steps)}}));
  };
  const auto finish = [reply = call.reply, steps] { reply.text(std::to_string(steps) + " steps"); };
  if (interval.count() > 0) {
    Agenda& agenda = call.session.agenda;
    for (long long step = 1; step <= steps; ++step) {
      agenda.after(interval * step, call.reply.id(), [report, step] { report(step); });
    }
    return agenda.after(interval * steps, call.reply.id(), finish);
  }
  if (call.flag("burst")) call.session.output.begin_burst();
  for (long long step = 1; step <= steps; ++step) report(step);
  finish();
  if (call.flag("burst")) call.session.output.end_burst();
}

void log(const Call& call) {
  const std::string level = call.has("level") ? call.text("level") : "info";
  call.session.output.notify(
      "notifications/message",
      object_of({{"level", json_quoted(level)}, {"data", json_quoted(call.text("text"))}}));
  call.reply.text("logged");
}

void write_stderr(const Call& call) {
  const long long lines = call.integer("lines", 1);
  const std::string text = call.text("text");
  for (long long line = 1; line <= lines; ++line) {
    say(lines == 1 ? text : text + ' ' + std::to_string(line));
  }
  call.reply.text("written");
}

void print(const Call& call) {
  call.session.output.line(call.text("text"));
  call.reply.text("printed");
}

void notify(const Call& call) {
  call.session.notify(call.text("method"), call.raw("params"));
  call.reply.text("sent");
}

void ask(const Call& call) {
  const auto on_answer = [reply = call.reply,
                          &record = call.session.record](std::string_view answer) {
    const auto& cancelled = record.cancelled;
    if (std::find(cancelled.begin(), cancelled.end(), reply.id()) == cancelled.end()) {
      reply.text(answer);
    }
  };
  call.session.questions.ask(call.text("method"), call.raw("params"), on_answer);
}

void structured(const Call& call) {
  const std::string value = object_of({{"n", std::to_string(call.integer("n", 1))}});
  call.reply.text(value, ",\"structuredContent\":" + value);
}

void fail(const Call& call) { call.reply.text("it did not work", ",\"isError\":true"); }

void rpc_error(const Call& call) {
  call.reply.error(call.integer("code", -32603), call.text("message"));
}

std::string environment(const std::string& name) {
  const auto value = variable(name);
  return value ? json_quoted(*value) : "null";
}

void env(const Call& call) {
  if (const auto value = variable(call.text("name"))) return call.reply.text(*value);
  call.reply.text("not set", ",\"isError\":true");
}

template <class Texts>
std::string strings(const Texts& texts) {
  std::vector<std::string> raw;
  for (const std::string& text : texts) raw.push_back(json_quoted(text));
  return array_of(raw);
}

/// The raw members that `state` shows only in the modern era.
std::string modern_state(const Session& session) {
  std::string envelopes = "{}";
  for (const auto& [method, meta] : session.record.envelopes) {
    envelopes = with_members(std::move(envelopes), json_quoted(method) + ':' + meta);
  }
  return "\"lastEnvelope\":" + session.record.last_envelope + ",\"envelopes\":" + envelopes +
         ",\"listens\":" + array_of(session.streams.ids()) +
         ",\"listenCount\":" + std::to_string(session.streams.opened_count());
}

void state(const Call& call) {
  const Record& record = call.session.record;
  std::string shown =
      object_of({{"pid", std::to_string(process_id())},
                 {"parent", std::to_string(parent_id())},
                 {"cwd", json_quoted(working_directory())},
                 {"argv", strings(call.session.options.argv)},
                 {"env", environment(call.text("env"))},
                 {"initializeParams", record.initialize_params},
                 {"initialized", record.initialized ? "true" : "false"},
                 {"level", record.level.empty() ? "null" : json_quoted(record.level)},
                 {"subscriptions", strings(record.subscriptions)},
                 {"requests", std::to_string(record.request_count)},
                 {"methods", strings(record.methods)},
                 {"cancelled", array_of(record.cancelled)},
                 {"badLines", std::to_string(record.bad_line_count)},
                 {"asked", call.session.questions.text()}});
  if (call.session.era == Era::modern) {
    shown = with_members(std::move(shown), modern_state(call.session));
  }
  call.reply.text(shown);
}

void args(const Call& call) { call.reply.text(strings(call.session.options.argv)); }

void change_tools(const Call& call) {
  call.session.catalog.change_tools();
  call.session.notify("notifications/tools/list_changed", {});
  call.reply.text("changed");
}

void spawn(const Call& call) {
  const std::int64_t pid = start_grandchild({.own_session = call.flag("session"),
                                             .ignores_term = call.flag("ignore_term"),
                                             .life = call.session.options.life_limit});
  call.reply.text(std::to_string(pid));
}

void close_stdout(const Call& call) { call.session.output.close(); }

void stop_reading(const Call& call) {
  call.reply.text("good bye");
  call.session.reading = false;
}

void close_input(const Call& call) {
  call.reply.text("good bye");
  call.session.reading = false;
  close_stdin();
}

void meta(const Call& call) {
  const std::string_view received = member(call.params, "_meta");
  const auto block = [](std::string_view text) {
    return object_of({{"type", "\"text\""}, {"text", json_quoted(text)}});
  };
  call.reply.members("\"content\":[" + block(received.empty() ? "null" : received) + ',' +
                     block(call.params) + ']');
}

void input_required(const Call& call) {
  const std::string_view responses = member(call.params, "inputResponses");
  if (!responses.empty()) {
    const std::string_view state = member(call.params, "requestState");
    return call.reply.text(object_of(
        {{"inputResponses", responses}, {"requestState", state.empty() ? "null" : state}}));
  }
  const std::string question = object_of(
      {{"method", R"("elicitation/create")"}, {"params", usual_params("elicitation/create")}});
  const std::string state = call.has("state") ? call.text("state") : "state-1";
  call.reply.raw_result(object_of({{"resultType", R"("input_required")"},
                                   {"inputRequests", object_of({{"q", question}})},
                                   {"requestState", json_quoted(state)}}));
}

void task(const Call& call) {
  call.reply.raw_result(
      R"({"resultType":"task","taskId":"task-1","status":"working","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":60000,"pollIntervalMs":1000})");
}

struct Tool {
  std::string_view name;
  std::string_view description;
  std::string_view properties;
  void (*run)(const Call&);
  std::string_view more_members = {};
  bool beyond_legacy = false;  ///< only exists if the server speaks more than the legacy era
};

constexpr Tool kTools[] = {
    {"echo", "Answers the text.", R"("text":{"type":"string"})", echo},
    {"add", "Adds two numbers.", R"("a":{"type":"number"},"b":{"type":"number"})", add},
    {"sleep", "Answers later; others go on.", R"("ms":{"type":"integer"})", sleep},
    {"hang", "Never answers.", "", hang},
    {"crash", "Dies of a signal, or exits with a code (1), at once or later.",
     R"("signal":{"type":"string"},"code":{"type":"integer"},"after_ms":{"type":"integer"},"stderr":{"type":"string"})",
     crash},
    {"answer_then_exit", "Answers and exits.", R"("code":{"type":"integer"})", answer_then_exit},
    {"big", "Answers a text of this size.", R"("bytes":{"type":"integer"})", big},
    {"progress", "Reports progress; as a burst in one write with the answer.",
     R"("steps":{"type":"integer"},"burst":{"type":"boolean"},"interval_ms":{"type":"integer"})",
     progress},
    {"log", "Sends a log message.", R"("level":{"type":"string"},"text":{"type":"string"})", log},
    {"stderr", "Writes lines to stderr, numbered if many.",
     R"("text":{"type":"string"},"lines":{"type":"integer"})", write_stderr},
    {"print", "Writes a line to stdout that is no message.", R"("text":{"type":"string"})", print},
    {"notify", "Sends a notification.", R"("method":{"type":"string"},"params":{"type":"object"})",
     notify},
    {"ask", "Asks the client and answers what it said.",
     R"("method":{"type":"string"},"params":{"type":"object"})", ask},
    {"structured", "Answers structured content.", R"("n":{"type":"integer"})", structured,
     R"(,"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})"},
    {"error", "Answers a result that is an error.", "", fail},
    {"rpc_error", "Answers a JSON-RPC error.",
     R"("code":{"type":"integer"},"message":{"type":"string"})", rpc_error},
    {"env", "Answers an environment variable.", R"("name":{"type":"string"})", env},
    {"state", "Answers what this process has been told, and the variable that env names.",
     R"("env":{"type":"string"})", state},
    {"change_tools", "Reads the tools file again or adds a tool, and says that the list changed.",
     "", change_tools},
    {"spawn", "Starts a sleeping process and answers its pid.",
     R"("session":{"type":"boolean"},"ignore_term":{"type":"boolean"})", spawn},
    {"args", "Answers its command line.", "", args},
    {"close_stdout", "Closes stdout, unanswered, and lives on.", "", close_stdout},
    {"stop_reading", "Answers, reads nothing more and lives on.", "", stop_reading},
    {"close_stdin", "Answers, closes its stdin and lives on.", "", close_input},
    {"meta", "Answers the received _meta and, in a second block, the raw params.", "", meta},
    {"input_required", "Asks for input first; answers what a retry brings.",
     R"("state":{"type":"string"})", input_required, "", true},
    {"task", "Answers a task.", "", task, "", true}};

bool is_there(const Tool& tool, const Options& options) {
  return !tool.beyond_legacy || options.era != Era::legacy;
}

}  // namespace

std::vector<std::string> builtin_tools(const Options& options) {
  std::vector<std::string> definitions;
  for (const Tool& tool : kTools) {
    if (!is_there(tool, options)) continue;
    std::string& definition = definitions.emplace_back("{\"name\":");
    definition.append(json_quoted(tool.name)).append(",\"description\":");
    definition.append(json_quoted(tool.description));
    definition.append(R"(,"inputSchema":{"type":"object","properties":{)");
    definition.append(tool.properties).append("}}").append(tool.more_members).append("}");
  }
  return definitions;
}

void run_tool(Session& session, std::string_view id, std::string_view params) {
  const std::string name = text_of(member(params, "name"));
  const Call call{session, Reply(session, id), params, member(params, "arguments")};
  const auto* const known = std::find_if(
      std::begin(kTools), std::end(kTools),
      [&](const Tool& tool) { return tool.name == name && is_there(tool, session.options); });
  if (known != std::end(kTools)) return known->run(call);
  if (!session.catalog.tool(name).empty()) return call.reply.text(call.arguments);
  call.reply.error(kInvalidParams, "Unknown tool: " + name);
}

}  // namespace sitter::fake
