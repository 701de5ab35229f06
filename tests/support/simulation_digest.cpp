#include "support/simulation_digest.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <variant>

namespace sitter::sim {
namespace {

/// Adds the parts of facts and orders. What has no parts is known by its place in the variant.
struct Parts {
  Digest& digest;

  template <class... Part>
  void all(const Part&... parts) const {
    (one(parts), ...);
  }

  void one(std::string_view text) const { digest.add(text); }
  void one(const std::string& text) const { digest.add(std::string_view(text)); }
  void one(const Line& line) const { digest.add(line.text()); }
  void one(const Outgoing& line) const { digest.add(std::string_view(line.text())); }
  template <class Number>
  requires std::is_integral_v<Number> || std::is_enum_v<Number>
  void one(Number number) const { digest.add(static_cast<std::uint64_t>(number)); }
  template <class Value>
  void one(const std::optional<Value>& value) const {
    one(value.has_value());
    if (value) one(*value);
  }
  void one(const WallTime& time) const {
    digest.add(static_cast<std::uint64_t>(time.time_since_epoch().count()));
  }
  void one(const ExitStatus& status) const { all(status.code, status.signal); }
};

struct FactParts : Parts {
  void operator()(const input::ClientLine& f) const { one(f.line); }
  void operator()(const input::ClientLineTooLong& f) const { all(f.head, f.tail, f.size); }
  void operator()(const input::ClientClosedInput&) const {}
  void operator()(const input::ClientClosedOutput&) const {}
  void operator()(const input::StopSignalled& f) const { one(f.exit_code); }
  void operator()(const input::ReloadAsked&) const {}
  void operator()(const input::StatusAsked&) const {}
  void operator()(const input::ChildStarted& f) const { all(f.gen, f.pid); }
  void operator()(const input::ChildStartFailed& f) const { all(f.gen, f.reason, f.is_file_busy); }
  void operator()(const input::ChildLine& f) const { all(f.gen, f.line, f.is_unfinished); }
  void operator()(const input::ChildLineTooLong& f) const { all(f.gen, f.head, f.tail, f.size); }
  void operator()(const input::ChildErrorLine& f) const { all(f.gen, f.line, f.bytes_cut); }
  void operator()(const input::ChildOutputEnded& f) const { one(f.gen); }
  void operator()(const input::ChildErrorEnded& f) const { one(f.gen); }
  void operator()(const input::ChildExited& f) const { all(f.gen, f.status); }
  void operator()(const input::ChildInputFull& f) const { one(f.gen); }
  void operator()(const input::ChildInputMoved& f) const { one(f.gen); }
  void operator()(const input::ChildInputDrained& f) const { one(f.gen); }
  void operator()(const input::ChildInputBroken& f) const { one(f.gen); }
  void operator()(const input::UnitSignalled& f) const {
    one(f.gen);
    for (const auto& process : f.processes) {
      all(process.pid, process.is_leader, process.command, process.refused,
          process.is_remote_runner);
    }
  }
  void operator()(const input::OrphanEnded&) const {}
  void operator()(const input::ImageSwept& f) const {
    for (const auto& process : f.processes) all(process.pid, process.command);
  }
  void operator()(const input::BinaryInspected& f) const {
    all(f.facts.path, f.facts.exists, f.facts.size, f.facts.modified, f.facts.stale,
        f.shared.has_value());
  }
  void operator()(const input::CommandFilesChecked& f) const { one(f.changed); }
  void operator()(const input::FilesChanged& f) const {
    for (const auto& file : f.files) {
      all(file.path, file.is_binary, file.is_usable);
    }
  }
  void operator()(const input::WatchChanged& f) const { all(f.folder_count, f.problem); }
  void operator()(const input::ControlLine& f) const { all(f.connection, f.line); }
  void operator()(const input::ControlClosed& f) const { one(f.connection); }
};

struct OrderParts : Parts {
  void operator()(const action::SendToClient& o) const { one(o.line); }
  void operator()(const action::SendToChild& o) const { all(o.gen, o.line); }
  void operator()(const action::StartChild& o) const { one(o.gen); }
  void operator()(const action::StartBuild& o) const { one(o.gen); }
  void operator()(const action::CloseChildInput& o) const { one(o.gen); }
  void operator()(const action::SignalUnit& o) const { all(o.gen, o.how); }
  void operator()(const action::ReleaseChild& o) const { one(o.gen); }
  void operator()(const action::SweepImage& o) const { all(o.scope, o.how); }
  void operator()(const action::InspectBinary& o) const { all(o.gen, o.finds_strangers); }
  void operator()(const action::CheckCommandFiles&) const {}
  void operator()(const action::SendToControl& o) const { all(o.connection, o.line); }
  void operator()(const action::Log& o) const { all(o.level, o.text); }
  void operator()(const action::Exit& o) const { all(o.code, o.may_wait); }
};

}  // namespace

void Digest::add(const Input& fact, Now now) {
  add(static_cast<std::uint64_t>(now.steady.time_since_epoch().count()));
  add(fact.index());
  std::visit(FactParts{{*this}}, fact);
}

void Digest::add(const Action& order) {
  add(order.index());
  std::visit(OrderParts{{*this}}, order);
}

void Digest::add(std::uint64_t number) {
  for (int byte = 0; byte < 8; ++byte) {
    value_ = (value_ ^ (number & 0xff)) * 0x100000001b3;
    number >>= 8;
  }
}

void Digest::add(std::string_view text) {
  add(text.size());
  for (const char c : text) {
    value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
}

}  // namespace sitter::sim
