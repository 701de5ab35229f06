#include "io/stream/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <system_error>

#include "core/base/text.hpp"
#include "io/stream/log_file.hpp"

namespace sitter {
namespace {

/// The shortest time between two messages on stderr that the log cannot be written, for example
/// because the disk is full.
constexpr std::chrono::seconds kFailureInterval{60};

/// The stderr sink of the library would wait for a client that does not read.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StderrSink(ErrorOutput& output) : output_(output) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    output_.write({line.data(), line.size()});
  }
  void flush_() override {}

  ErrorOutput& output_;
};

/// The file sink of the library renames what another process still writes.
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(const std::string& path) : file_(path) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_.write({line.data(), line.size()});
  }
  void flush_() override {}

  LogFile file_;
};

spdlog::level::level_enum level_of(order::Log::Level level) {
  switch (level) {
    case order::Log::Level::debug:
      return spdlog::level::debug;
    case order::Log::Level::info:
      return spdlog::level::info;
    case order::Log::Level::warn:
      return spdlog::level::warn;
    case order::Log::Level::error:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

struct Log::Logger {
  explicit Logger(spdlog::sink_ptr sink) : logger("mcp-sitter", std::move(sink)) {}

  spdlog::logger logger;
};

Log::Log(std::unique_ptr<Logger> logger, Secrets secrets, bool is_trace)
    : logger_(std::move(logger)), secrets_(std::move(secrets)), is_trace_(is_trace) {}
Log::~Log() = default;

std::unique_ptr<Log> Log::open(const Options& options, ErrorOutput& stderr_output,
                               std::string& error) {
  spdlog::sink_ptr sink;
  if (options.file.empty()) {
    sink = std::make_shared<StderrSink>(stderr_output);
    sink->set_pattern("[mcp-sitter] %l: %v");
  } else {
    try {
      sink = std::make_shared<FileSink>(options.file);
    } catch (const std::system_error& failure) {
      error = one_line(failure.what());
      return nullptr;
    }
    sink->set_pattern("%Y-%m-%d %H:%M:%S.%e %P %l: %v");
  }
  auto logger = std::make_unique<Logger>(std::move(sink));
  auto level = level_of(options.level);
  if (options.is_trace) level = spdlog::level::trace;
  if (options.is_off) level = spdlog::level::off;
  logger->logger.set_level(level);
  logger->logger.flush_on(spdlog::level::trace);
  logger->logger.set_error_handler([&stderr_output, next = std::chrono::steady_clock::time_point()](
                                       const std::string& what) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now < next) return;
    next = now + kFailureInterval;
    stderr_output.write("[mcp-sitter] warning: the log file can't be written: " + one_line(what) +
                        "\n");
  });
  return std::unique_ptr<Log>(
      new Log(std::move(logger), options.secrets, options.is_trace && !options.is_off));
}

void Log::write(order::Log::Level level, std::string_view text) {
  logger_->logger.log(level_of(level), secrets_.masked(text));
}

void Log::trace(std::string_view text) { logger_->logger.trace(secrets_.masked(text)); }

}  // namespace sitter
