#include "trace.hpp"

#include <fmt/format.h>

#include "sitter/core/text.hpp"

namespace sitter {
namespace {

constexpr std::size_t kTextMax = 500;

std::string abridged(std::string_view text) {
  return brief(text.substr(0, 4 * kTextMax), kTextMax);
}

const char* word(action::SignalUnit::How how) {
  switch (how) {
    case action::SignalUnit::How::look:
      return "look";
    case action::SignalUnit::How::terminate:
      return "terminate";
    case action::SignalUnit::How::kill:
      break;
  }
  return "kill";
}

struct InputText {
  std::string operator()(const input::ClientLine& i) {
    return "client line " + abridged(i.line.text());
  }
  std::string operator()(const input::ClientLineTooLong& i) {
    return fmt::format("client line of {} bytes", i.size);
  }
  std::string operator()(const input::ClientClosedInput&) { return "client closed our input"; }
  std::string operator()(const input::ClientClosedOutput&) { return "client closed our output"; }
  std::string operator()(const input::StopSignalled& i) {
    return fmt::format("stop signalled, exit code {}", i.exit_code);
  }
  std::string operator()(const input::ReloadAsked&) { return "reload asked"; }
  std::string operator()(const input::StatusAsked&) { return "status asked"; }
  std::string operator()(const input::ChildStarted& i) {
    return fmt::format("child {} started, pid {}", i.gen, i.pid);
  }
  std::string operator()(const input::ChildStartFailed& i) {
    return fmt::format("child {} not started: {}", i.gen, abridged(i.reason));
  }
  std::string operator()(const input::ChildLine& i) {
    return fmt::format("child {} line {}", i.gen, abridged(i.line.text()));
  }
  std::string operator()(const input::ChildLineTooLong& i) {
    return fmt::format("child {} line of {} bytes", i.gen, i.size);
  }
  std::string operator()(const input::ChildErrorLine& i) {
    return fmt::format("child {} stderr {}", i.gen, abridged(i.line));
  }
  std::string operator()(const input::ChildOutputEnded& i) {
    return fmt::format("child {} output ended", i.gen);
  }
  std::string operator()(const input::ChildErrorEnded& i) {
    return fmt::format("child {} stderr ended", i.gen);
  }
  std::string operator()(const input::ChildExited& i) {
    return fmt::format("child {} exited, {} {}", i.gen, i.status.code, i.status.signal);
  }
  std::string operator()(const input::ChildInputFull& i) {
    return fmt::format("child {} input full", i.gen);
  }
  std::string operator()(const input::ChildInputMoved& i) {
    return fmt::format("child {} input moved", i.gen);
  }
  std::string operator()(const input::ChildInputDrained& i) {
    return fmt::format("child {} input drained", i.gen);
  }
  std::string operator()(const input::ChildInputBroken& i) {
    return fmt::format("child {} input broken", i.gen);
  }
  std::string operator()(const input::UnitSignalled& i) {
    return fmt::format("child {} unit has {} processes", i.gen, i.processes.size());
  }
  std::string operator()(const input::OrphanEnded&) { return "orphan ended"; }
  std::string operator()(const input::ImageSwept& i) {
    return fmt::format("swept {} processes", i.processes.size());
  }
  std::string operator()(const input::BinaryInspected& i) {
    return fmt::format("binary inspected: {}", i.facts.path.value_or("none"));
  }
  std::string operator()(const input::CommandFilesChecked& i) {
    return fmt::format("command files {}", i.changed ? "changed" : "unchanged");
  }
  std::string operator()(const input::ControlLine& i) {
    return fmt::format("control {} line {}", i.connection, abridged(i.line));
  }
  std::string operator()(const input::ControlClosed& i) {
    return fmt::format("control {} closed", i.connection);
  }
  std::string operator()(const input::FilesChanged& i) {
    return fmt::format("{} watched files changed, {} first", i.files.size(),
                       i.files.empty() ? "none" : abridged(i.files.front().path));
  }
  std::string operator()(const input::WatchChanged& i) {
    return fmt::format("{} folders watched {}", i.folder_count, i.problem);
  }
};

struct ActionText {
  std::string operator()(const action::SendToControl& a) {
    return fmt::format("send to control {} {}", a.connection, abridged(a.line));
  }
  std::string operator()(const action::SendToClient& a) {
    return "send to client " + abridged(a.line.text());
  }
  std::string operator()(const action::SendToChild& a) {
    return fmt::format("send to child {} {}", a.gen, abridged(a.line.text()));
  }
  std::string operator()(const action::StartChild& a) {
    return fmt::format("start child {}", a.gen);
  }
  std::string operator()(const action::StartBuild& a) {
    return fmt::format("start build {}", a.gen);
  }
  std::string operator()(const action::CloseChildInput& a) {
    return fmt::format("close input of child {}", a.gen);
  }
  std::string operator()(const action::SignalUnit& a) {
    return fmt::format("{} unit of child {}", word(a.how), a.gen);
  }
  std::string operator()(const action::ReleaseChild& a) {
    return fmt::format("release child {}", a.gen);
  }
  std::string operator()(const action::SweepImage& a) {
    return fmt::format("{} others of the image", word(a.how));
  }
  std::string operator()(const action::InspectBinary& a) {
    return fmt::format("inspect binary of child {}", a.gen);
  }
  std::string operator()(const action::CheckCommandFiles&) { return "check command files"; }
  std::string operator()(const action::Log& a) { return "log " + abridged(a.text); }
  std::string operator()(const action::Exit& a) { return fmt::format("exit {}", a.code); }
};

}  // namespace

std::string to_text(const Input& input) { return "<- " + std::visit(InputText(), input); }
std::string to_text(const Action& action) { return "-> " + std::visit(ActionText(), action); }

}  // namespace sitter
