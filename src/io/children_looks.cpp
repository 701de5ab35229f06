#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "io/children.hpp"
#include "io/process/image_sweep.hpp"
#include "io/process/runners.hpp"
#include "io/stream/event_loop.hpp"

namespace sitter {
namespace {

/// A look at the sources of the server takes no longer than this, which is less than a person or a
/// model notices. A large tree is looked at in several turns.
constexpr Milliseconds kSourceLookTime{5};

/// Whether the running child may show more than what is known of its file.
bool hides_more(const BinaryInfo& file) {
  if (!file.exists) return true;
  if (!file.interpreter || file.behind) return false;
  const std::string& interpreter = file.interpreter->path;
  return is_shell(interpreter) || runner_kind(interpreter) == Runner::wrapper;
}

}  // namespace

std::optional<Fact> Children::carry_out(const order::InspectBinary& order, WallTime now) {
  const auto child = at(order.gen);
  const bool is_there = child != children_.end();
  LoadedBinary& binary = is_there ? child->binary : last_binary_;
  fact::BinaryInspected fact{order.look, is_there ? look_at_file(*child) : binary.look(0)};
  if (order.finds_strangers) fact.shared = shared_by(binary);
  if (!order.finds_changes || !is_there) return fact;
  const SourceLook::Seen seen = look_at(*child, now);
  if (seen.newest) {
    fact.facts.stale = true;
  } else if (fact.facts.interpreter && !seen.is_whole) {
    if (!child->sources || fact.facts.stale == false) fact.facts.stale.reset();
  }
  return fact;
}

std::optional<Fact> Children::carry_out(const order::LookAtSources& order, WallTime now) {
  fact::SourcesChecked fact{order.gen, {}, {}};
  const auto child = at(order.gen);
  if (child == children_.end()) return fact;
  const Instant begun = std::chrono::steady_clock::now();
  if (auto newest = look_at(*child, now).newest) {
    fact.changed = std::move(newest->file);
    fact.changed_at = newest->when;
  }
  fact.took = std::chrono::steady_clock::now() - begun;
  return fact;
}

std::optional<Fact> Children::carry_out(const order::LookAtProcess& order, WallTime) {
  const auto child = at(order.gen);
  if (child == children_.end()) return fact::ProcessSeen{.gen = order.gen, .debugger = {}};
  return child->look.at(order.gen, child->process->unit().members(not_of(order.gen)));
}

void Children::read_stack(Generation gen, std::function<void(std::string)> on_read) {
  if (crash_.gen != gen || crash_.dump.reader.empty()) return;
  stack_reader_.emplace(loop_, crash_.dump.reader, std::move(on_read));
}

/// Finds out what the sources of the child are. Behind a wrapper or a script of a shell, only the
/// running child shows its program, and only once it has started it.
SourceLook::Seen Children::look_at(Child& child, WallTime now) {
  const BinaryInfo& loaded = child.binary.loaded();
  if (hides_more(loaded)) look_at_file(child);
  const std::string& runs = loaded.behind ? loaded.behind->path : loaded.path;
  if (loaded.exists && child.sources_of != runs) {
    child.sources_of = runs;
    child.sources.reset();
    if (!restarts_itself(child)) {
      child.sources.emplace(parts_.command, loaded, child.binary.started());
    }
  }
  if (!child.sources) return {};
  const Instant until = std::chrono::steady_clock::now() + kSourceLookTime;
  return child.sources->look(now, [&] { return std::chrono::steady_clock::now() < until; });
}

/// Whether something starts the server anew when its sources change. Behind `npm run dev`, only the
/// processes show this.
bool Children::restarts_itself(Child& child) const {
  const LaunchRequest& command = parts_.command;
  std::vector<std::string> words = command.arguments;
  words.push_back(command.command);
  if (sitter::restarts_itself(words)) return true;
  const Runner kind = runner_kind(command.command);
  const bool names_script =
      kind == Runner::interpreter && script_of(command.arguments, command.cwd).has_value();
  if (!child.binary.loaded().behind && (kind == Runner::none || names_script)) return false;
  const auto members = child.process->unit().members(not_of(child.gen()));
  return std::any_of(members.begin(), members.end(), [](const ProcessInfo& process) {
    return sitter::restarts_itself(arguments_of(process.pid));
  });
}

std::optional<SharedImage> Children::shared_by(const LoadedBinary& binary) {
  const ImageIdentity image = binary.shared_image();
  if (!image.is_known()) return {};
  std::vector<long> ours = not_of(kNoGeneration);
  for (Child& child : children_) {
    for (const ProcessInfo& member : child.process->unit().members(not_of(child.gen()))) {
      ours.push_back(member.pid);
    }
  }
  SharedImage shared{image.path, {}};
  for (const ProcessInfo& process : same_image(image, ours)) {
    shared.others.push_back({process.pid, process.command});
  }
  return shared;
}

}  // namespace sitter
