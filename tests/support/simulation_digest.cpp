#include "support/simulation_digest.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <variant>

namespace sitter::sim {
namespace {

/// Adds the parts of facts and orders. A fact or order without parts is known by its index in the
/// variant.
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
  void operator()(const fact::ClientLine& f) const { one(f.line); }
  void operator()(const fact::ClientLineTooLong& f) const { all(f.head, f.tail, f.size); }
  void operator()(const fact::ClientClosedInput&) const {}
  void operator()(const fact::ClientClosedOutput&) const {}
  void operator()(const fact::StopSignalled& f) const { one(f.exit_code); }
  void operator()(const fact::ReloadAsked&) const {}
  void operator()(const fact::StatusAsked&) const {}
  void operator()(const fact::ChildStarted& f) const { all(f.gen, f.pid); }
  void operator()(const fact::ChildStartFailed& f) const { all(f.gen, f.reason, f.is_file_busy); }
  void operator()(const fact::ChildLine& f) const { all(f.gen, f.line, f.is_unfinished); }
  void operator()(const fact::ChildLineTooLong& f) const { all(f.gen, f.head, f.tail, f.size); }
  void operator()(const fact::ChildErrorLine& f) const { all(f.gen, f.line, f.bytes_cut); }
  void operator()(const fact::ChildOutputEnded& f) const { one(f.gen); }
  void operator()(const fact::ChildErrorEnded& f) const { one(f.gen); }
  void operator()(const fact::ChildExited& f) const { all(f.gen, f.status); }
  void operator()(const fact::ChildLost& f) const { all(f.gen, static_cast<int>(f.of), f.why); }
  void operator()(const fact::RequestRefused& f) const { all(f.gen, f.line.text(), f.why); }
  void operator()(const fact::RequestLost& f) const { all(f.gen, f.line.text(), f.why); }
  void operator()(const fact::ChildInputFull& f) const { one(f.gen); }
  void operator()(const fact::ChildOutputMoved& f) const { one(f.gen); }
  void operator()(const fact::ChildInputMoved& f) const { one(f.gen); }
  void operator()(const fact::ChildInputDrained& f) const { one(f.gen); }
  void operator()(const fact::ChildInputBroken& f) const { one(f.gen); }
  void operator()(const fact::UnitSignalled& f) const {
    one(f.gen);
    for (const auto& process : f.processes) {
      all(process.pid, process.is_leader, process.command, process.refused,
          process.is_remote_runner);
    }
  }
  void operator()(const fact::OrphanEnded&) const {}
  void operator()(const fact::ImageSwept& f) const {
    for (const auto& process : f.processes) all(process.pid, process.command);
  }
  void operator()(const fact::BinaryInspected& f) const {
    all(f.facts.path, f.facts.exists, f.facts.size, f.facts.modified, f.facts.stale,
        f.shared.has_value());
  }
  void operator()(const fact::CommandFilesChecked& f) const { one(f.changed); }
  void operator()(const fact::SourcesChecked& f) const { all(f.gen, f.changed, f.changed_at); }
  void operator()(const fact::FilesChanged& f) const {
    for (const auto& file : f.files) {
      all(file.path, file.is_binary, file.is_usable);
    }
  }
  void operator()(const fact::WatchChanged& f) const {
    all(f.folder_count, f.problem);
    for (const auto& pattern : f.unmatched) one(pattern);
  }
  void operator()(const fact::ProcessSeen&) const {}
  void operator()(const fact::StackRead&) const {}
  void operator()(const fact::ControlLine& f) const { all(f.connection, f.line); }
  void operator()(const fact::ControlClosed& f) const { one(f.connection); }
};

struct OrderParts : Parts {
  void operator()(const order::SendToClient& o) const { one(o.line); }
  void operator()(const order::SendToChild& o) const { all(o.gen, o.line); }
  void operator()(const order::StartChild& o) const { one(o.gen); }
  void operator()(const order::StartBuild& o) const { one(o.gen); }
  void operator()(const order::RenumberChild& o) const { all(o.from, o.gen); }
  void operator()(const order::CloseChildInput& o) const { one(o.gen); }
  void operator()(const order::SignalUnit& o) const { all(o.gen, o.how); }
  void operator()(const order::ReleaseChild& o) const { one(o.gen); }
  void operator()(const order::SweepImage& o) const { all(o.scope, o.how); }
  void operator()(const order::InspectBinary& o) const {
    all(o.gen, o.finds_strangers, o.finds_changes);
  }
  void operator()(const order::CheckCommandFiles&) const {}
  void operator()(const order::LookAtSources& o) const { one(o.gen); }
  void operator()(const order::LookAtProcess&) const {}
  void operator()(const order::ReadStack&) const {}
  void operator()(const order::RememberEra&) const {}
  void operator()(const order::SendToControl& o) const { all(o.connection, o.line); }
  void operator()(const order::Log& o) const { all(o.level, o.text); }
  void operator()(const order::Exit& o) const { all(o.code, o.may_wait); }
};

}  // namespace

// A look at a process changes nothing that is played, so it leaves the digest as it is.

void Digest::add(const Fact& fact, Now now) {
  if (std::holds_alternative<fact::ProcessSeen>(fact)) return;
  add(static_cast<std::uint64_t>(now.steady.time_since_epoch().count()));
  add(fact.index());
  std::visit(FactParts{{*this}}, fact);
}

void Digest::add(const Order& order) {
  if (std::holds_alternative<order::LookAtProcess>(order)) return;
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
