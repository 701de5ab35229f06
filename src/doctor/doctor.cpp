#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>
#include <variant>

#include "core/base/text.hpp"
#include "doctor/doctor_words.hpp"
#include "doctor/examination.hpp"
#include "doctor/findings.hpp"
#include "help/commands.hpp"
#include "terminal/terminal.hpp"

namespace sitter {
namespace {

/// Replaces what stands on the line of the terminal.
void show_step(std::string_view step) {
  fmt::print(stderr, "\r\x1b[K{}", step);
  std::fflush(stderr);
}

int report(const DoctorWords& words) {
  const bool shows_steps = is_terminal(stderr);
  DoctorFacts facts = examine(words, [&](std::string_view step) {
    if (shows_steps) show_step(fmt::format("{} ...", step));
  });
  if (shows_steps) show_step("");
  // These are quoted from messages, which pass as they are.
  const Secrets& secrets = words.options.log.secrets;
  for (DoctorFacts::Tool& tool : facts.tools) tool.failure = secrets.masked(tool.failure);
  for (DoctorFacts::List& list : facts.lists) list.error = secrets.masked(list.error);
  const std::vector<Finding> findings = findings_in(facts);
  const std::string text =
      words.as_json ? doctor_json(facts, findings) : doctor_text(findings, wants_color());
  if (!print_all(text)) return kFailed;
  return doctor_exit_code(findings);
}

}  // namespace

int run_doctor(const std::vector<std::string>& words) {
  const auto read = read_doctor_words(words);
  if (const auto* const refusal = std::get_if<Refusal>(&read)) {
    std::fputs(refusal->text.c_str(), refusal->exit_code == 0 ? stdout : stderr);
    return refusal->exit_code;
  }
  try {
    return report(std::get<DoctorWords>(read));
  } catch (const std::exception& error) {
    fmt::print(stderr, "mcp-sitter doctor: {}\n", one_line(error.what()));
    return kFailed;
  }
}

}  // namespace sitter
