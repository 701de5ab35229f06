#include "io/files/loaded_binary.hpp"

#include <variant>

#include "io/files/version_resource.hpp"
#include "io/process/image_sweep.hpp"

namespace sitter {
namespace {

bool is_same_file(const BinaryInfo& a, const BinaryInfo& b) {
  return a.exists == b.exists && a.mtime == b.mtime && a.size == b.size && a.inode == b.inode &&
         a.device == b.device && a.behind == b.behind;
}

/// Whether other programs of the user or the system run this file too.
bool is_shared(const ImageIdentity& image) {
  return shared_by_strangers(image.path) || belongs_to_the_system(image.path);
}

LoadedBinary::Program program_of(long pid) { return {image_of(pid), arguments_behind_name(pid)}; }

}  // namespace

void LoadedBinary::before_start(const PlannedLaunch& planned) {
  loaded_ = inspect(command_, planned, 0);
}

void LoadedBinary::on_started(WallTime started) {
  started_ = started;
  was_started_ = true;
  own_ = {};
  inner_ = {};
}

void LoadedBinary::on_taken(WallTime started, BinaryInfo loaded) {
  loaded_ = std::move(loaded);
  on_started(started);
}

BinaryFacts LoadedBinary::look(long pid) {
  BinaryInfo info = inspect(command_, pid);
  if (pid == 0 && !info.exists && loaded_.exists) {
    // Behind a wrapper, only the last running child has shown which file it runs.
    info = inspect(
        {.command = loaded_.path, .arguments = {}, .cwd = {}, .environment = {}, .env_file = {}},
        0);
  }
  // A shell whose last command is a program replaces itself with this program (execve(2)).
  if (Program now = program_of(pid); now.image.is_known()) own_ = std::move(now);
  const bool shows_more = info.path != loaded_.path || (info.behind && !loaded_.behind);
  if (pid != 0 && info.exists && shows_more) {
    loaded_ = info;
    if (info.is_behind_replaced) loaded_.behind->inode = 0;
  }
  // What a wrapper has started.
  if (pid != 0 && info.interpreter) loaded_.interpreter = info.interpreter;
  if (pid != 0 && info.exists && !info.interpreter) {
    inner_ = {image_at(info.path), info.arguments};
  }

  BinaryFacts facts;
  facts.path = info.path;
  facts.exists = info.exists;
  if (info.exists) {
    // The build id is not read at a start, because reading it would delay the start.
    if (std::string id = build_id_of(info.path); !id.empty()) facts.build_id = std::move(id);
    facts.version = version_of(info.path);
    facts.size = static_cast<std::int64_t>(info.size);
    facts.modified = info.behind ? info.behind->mtime : info.mtime;
  }
  if (info.behind && !info.is_behind_interpreted) facts.behind = info.behind->path;
  if (info.interpreter) {
    facts.interpreter =
        BinaryFacts::File{info.interpreter->path, static_cast<std::int64_t>(info.interpreter->size),
                          info.interpreter->mtime};
  }
  if (pid != 0 && was_started_) {
    facts.loaded = BinaryFacts::Loaded{{}, {}, started_};
    if (loaded_.exists) {
      facts.loaded->modified = loaded_.mtime;
      facts.loaded->size = static_cast<std::int64_t>(loaded_.size);
    }
    // Behind `docker run`, for example, no file is known.
    if (loaded_.exists || info.exists) facts.stale = !is_same_file(loaded_, info);
  }
  return facts;
}

LoadedBinary::Program LoadedBinary::program_to_sweep(KillScope scope) const {
  if (scope == KillScope::child) return {};
  Program own = own_program();
  for (const Program& program : {own, inner_}) {
    if (program.image.is_known() && !is_shared(program.image)) return program;
  }
  return scope == KillScope::same_executable ? own : Program{};
}

ImageIdentity LoadedBinary::shared_image() const {
  return program_to_sweep(KillScope::same_file).image.is_known()
             ? ImageIdentity{}
             : program_to_sweep(KillScope::same_executable).image;
}

LoadedBinary::Program LoadedBinary::own_program() const {
  if (own_.image.is_known()) return own_;
  // Before the first start: the file that would run.
  const PlannedLaunch planned = plan_launch(command_);
  const BinaryInfo info = inspect(command_, planned, 0);
  if (info.interpreter) return {image_at(info.interpreter->path), {}};
  const auto* const plan = std::get_if<LaunchPlan>(&planned);
  return {image_at(plan == nullptr ? info.path : plan->program), command_.arguments};
}

}  // namespace sitter
