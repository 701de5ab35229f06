#include "io/trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

#include "core/base/text.hpp"

namespace sitter {
namespace {

constexpr std::size_t kTextMax = 500;

const char* word(order::SignalUnit::How how) {
  switch (how) {
    case order::SignalUnit::How::look:
      return "look";
    case order::SignalUnit::How::terminate:
      return "terminate";
    case order::SignalUnit::How::kill:
      break;
  }
  return "kill";
}

std::string of_child(const auto& fact, const char* what) {
  return fmt::format("child {} {}", fact.gen, what);
}

std::string with_gen(const char* what, const auto& order) {
  return fmt::format("{} {}", what, order.gen);
}

std::string of_exchange(const auto& one, std::string_view what) {
  return fmt::format("http {}: {}", static_cast<std::uint64_t>(one.exchange), what);
}

/// Says what stands in a step, without the secrets.
struct StepText {
  const Secrets& secrets;

  std::string abridged(std::string_view text) const {
    const std::string_view read = text.substr(0, 4 * kTextMax);
    return shortened(secrets.masked(one_line(read), read.size() < text.size()), kTextMax);
  }
};

struct FactText : StepText {
  std::string operator()(const fact::ClientLine& i) {
    return "client line " + abridged(i.line.text());
  }
  std::string operator()(const fact::ClientLineTooLong& i) {
    return fmt::format("client line of {} bytes", i.size);
  }
  std::string operator()(const fact::ClientClosedInput&) { return "client closed our input"; }
  std::string operator()(const fact::ClientClosedOutput&) { return "client closed our output"; }
  std::string operator()(const fact::StopSignalled& i) {
    return fmt::format("stop signalled, exit code {}", i.exit_code);
  }
  std::string operator()(const fact::ReloadAsked& i) {
    return "reload asked: " + abridged(i.cause);
  }
  std::string operator()(const fact::StatusAsked&) { return "status asked"; }
  std::string operator()(const fact::ChildStarted& i) {
    return fmt::format("child {} started, pid {}", i.gen, i.pid);
  }
  std::string operator()(const fact::ChildStartFailed& i) {
    return fmt::format("child {} not started: {}", i.gen, abridged(i.reason));
  }
  std::string operator()(const fact::ChildLine& i) {
    return fmt::format("child {} line {}", i.gen, abridged(i.line.text()));
  }
  std::string operator()(const fact::ChildLineTooLong& i) {
    return fmt::format("child {} line of {} bytes", i.gen, i.size);
  }
  std::string operator()(const fact::ChildErrorLine& i) {
    return fmt::format("child {} stderr {}", i.gen, abridged(i.line));
  }
  std::string operator()(const fact::ChildOutputEnded& i) { return of_child(i, "output ended"); }
  std::string operator()(const fact::ChildErrorEnded& i) { return of_child(i, "stderr ended"); }
  std::string operator()(const fact::ChildExited& i) {
    return fmt::format("child {} exited, {} {}", i.gen, i.status.code, i.status.signal);
  }
  std::string operator()(const fact::ChildInputFull& i) { return of_child(i, "input full"); }
  std::string operator()(const fact::ChildOutputMoved& i) { return of_child(i, "output moved"); }
  std::string operator()(const fact::ChildInputMoved& i) { return of_child(i, "input moved"); }
  std::string operator()(const fact::ChildInputDrained& i) { return of_child(i, "input drained"); }
  std::string operator()(const fact::ChildInputBroken& i) { return of_child(i, "input broken"); }
  std::string operator()(const fact::UnitSignalled& i) {
    return fmt::format("child {} unit has {} processes", i.gen, i.processes.size());
  }
  std::string operator()(const fact::OrphanEnded&) { return "orphan ended"; }
  std::string operator()(const fact::ImageSwept& i) {
    return fmt::format("swept {} processes", i.processes.size());
  }
  std::string operator()(const fact::BinaryInspected& i) {
    return fmt::format("binary inspected: {}", i.facts.path.value_or("none"));
  }
  std::string operator()(const fact::ChildLost& i) {
    return fmt::format("child {} lost its {}: {}", i.gen,
                       i.of == fact::ChildLost::Of::session ? "session" : "connection", i.why);
  }
  std::string operator()(const fact::RequestRefused& i) {
    return fmt::format("child {} refused {}: {}", i.gen, abridged(i.line.text()), i.why);
  }
  std::string operator()(const fact::RequestLost& i) {
    return fmt::format("child {} lost {}: {}", i.gen, abridged(i.line.text()), i.why);
  }
  std::string operator()(const fact::CommandFilesChecked& i) {
    return fmt::format("command files {}", i.changed ? "changed" : "unchanged");
  }
  std::string operator()(const fact::SourcesChecked& i) {
    return fmt::format("child {} sources: {} changed", i.gen,
                       i.changed.empty() ? "none" : abridged(i.changed));
  }
  std::string operator()(const fact::ProcessSeen& i) {
    return fmt::format("child {}: {}; debugger: {}", i.gen, i.activity,
                       i.debugger.empty() ? "none" : abridged(i.debugger));
  }
  std::string operator()(const fact::StackRead& i) {
    return fmt::format("child {} crashed in {}", i.gen, abridged(i.stack));
  }
  std::string operator()(const fact::ControlLine& i) {
    return fmt::format("control {} line {}", i.connection, abridged(i.line));
  }
  std::string operator()(const fact::ControlClosed& i) {
    return fmt::format("control {} closed", i.connection);
  }
  std::string operator()(const fact::FilesChanged& i) {
    return fmt::format("{} watched files changed, {} first", i.files.size(),
                       i.files.empty() ? "none" : abridged(i.files.front().path));
  }
  std::string operator()(const fact::WatchChanged& i) {
    return fmt::format("{} folders watched, {} patterns without a file {}", i.folder_count,
                       i.unmatched.size(), i.problem);
  }
};

struct OrderText : StepText {
  std::string operator()(const order::SendToControl& a) {
    return fmt::format("send to control {} {}", a.connection, abridged(a.line));
  }
  std::string operator()(const order::SendToClient& a) {
    return "send to client " + abridged(a.line.text());
  }
  std::string operator()(const order::SendToChild& a) {
    return fmt::format("send to child {} {}", a.gen, abridged(a.line.text()));
  }
  std::string operator()(const order::StartChild& a) { return with_gen("start child", a); }
  std::string operator()(const order::RenumberChild& a) {
    return fmt::format("child {} is child {} from now on", a.from, a.gen);
  }
  std::string operator()(const order::StartBuild& a) { return with_gen("start build", a); }
  std::string operator()(const order::CloseChildInput& a) {
    return with_gen("close input of child", a);
  }
  std::string operator()(const order::SignalUnit& a) {
    return fmt::format("{} unit of child {}", word(a.how), a.gen);
  }
  std::string operator()(const order::ReleaseChild& a) { return with_gen("release child", a); }
  std::string operator()(const order::SweepImage& a) {
    return fmt::format("{} others of the image", word(a.how));
  }
  std::string operator()(const order::InspectBinary& a) {
    return with_gen("inspect binary of child", a);
  }
  std::string operator()(const order::CheckCommandFiles&) { return "check command files"; }
  std::string operator()(const order::LookAtSources& a) {
    return with_gen("look at sources of child", a);
  }
  std::string operator()(const order::LookAtProcess& a) {
    return with_gen("look at the process of child", a);
  }
  std::string operator()(const order::ReadStack& a) {
    return fmt::format("read where child {} has crashed", a.gen);
  }
  std::string operator()(const order::RememberEra& a) {
    return fmt::format("remember sign {} of the era", static_cast<int>(a.sign));
  }
  std::string operator()(const order::StartRun& a) {
    return fmt::format("start run {}: {}", a.gen,
                       abridged(fmt::format("{}", fmt::join(a.arguments, " "))));
  }
  std::string operator()(const order::ReadDescription& a) {
    return with_gen("read description for child", a);
  }
  std::string operator()(const order::Log& a) { return "log " + abridged(a.text); }
  std::string operator()(const order::Exit& a) { return fmt::format("exit {}", a.code); }
};

/// Neither headers nor addresses, since both may be secret.
struct HttpOrderText : StepText {
  std::string operator()(const order::HttpConnect& o) { return of_exchange(o, "connect"); }
  std::string operator()(const order::HttpSend& o) {
    using Method = order::HttpSend::Method;
    const char* const method = o.method == Method::post  ? "POST"
                               : o.method == Method::get ? "GET"
                                                         : "DELETE";
    return of_exchange(o, fmt::format("{} {}", method, abridged(o.body)));
  }
  std::string operator()(const order::HttpAbort& o) { return of_exchange(o, "abort"); }
  std::string operator()(const order::HttpPause& o) {
    return of_exchange(o, o.is_paused ? "pause" : "go on");
  }
};

struct HttpFactText : StepText {
  std::string operator()(const fact::HttpConnected& f) { return of_exchange(f, "connected"); }
  std::string operator()(const fact::HttpHead& f) {
    return of_exchange(f, fmt::format("status {}, {}", f.status,
                                      abridged(header_value(f.headers, "content-type"))));
  }
  std::string operator()(const fact::HttpBytes& f) {
    return of_exchange(f, fmt::format("{} bytes", f.bytes.size()));
  }
  std::string operator()(const fact::HttpEnded& f) { return of_exchange(f, "ended"); }
  std::string operator()(const fact::HttpIdleClosed&) { return "http: an idle connection closed"; }
  std::string operator()(const fact::HttpFailed& f) {
    return of_exchange(f, "failed, " + f.reason);
  }
};

}  // namespace

std::string to_text(const Fact& fact, const Secrets& secrets) {
  return "<- " + std::visit(FactText{{secrets}}, fact);
}
std::string to_text(const Order& order, const Secrets& secrets) {
  return "-> " + std::visit(OrderText{{secrets}}, order);
}
std::string to_text(const HttpFact& fact, const Secrets& secrets) {
  return "<- " + std::visit(HttpFactText{{secrets}}, fact);
}
std::string to_text(const CliOrder& order, const Secrets& secrets) {
  return "-> " + std::visit(OrderText{{secrets}}, order);
}
std::string to_text(const HttpOrder& order, const Secrets& secrets) {
  return "-> " + std::visit(HttpOrderText{{secrets}}, order);
}

}  // namespace sitter
