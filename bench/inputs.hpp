#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <string_view>

/// Lines as clients and servers write them, without their line ends.
namespace sitter::bench {

/// The size of a very small call: a short name and hardly any argument.
constexpr int kSmallCall = 120;

/// The sizes of a short answer, a file, and about the largest line that the official TypeScript
/// clients accept.
inline void message_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1024)->Arg(100 * 1024)->Arg(10 * 1024 * 1024);
}

inline std::size_t bytes_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}

/// A tools/call of about this many bytes, with its members in the order of the official clients:
/// the id comes last. The argument is one long string, so the call has many bytes but little
/// structure.
inline std::string call(std::string_view id, std::size_t bytes) {
  const std::string begin =
      R"json({"method":"tools/call","params":{"name":"echo","arguments":{"text":")json";
  const std::string end = R"json("},"_meta":{"progressToken":)json" + std::string(id) +
                          R"json(}},"jsonrpc":"2.0","id":)json" + std::string(id) + "}";
  const std::size_t around = begin.size() + end.size();
  return begin + std::string(bytes > around ? bytes - around : 0, 'x') + end;
}

/// One string of prose with few characters that JSON treats specially: the best case of a
/// structural index.
inline std::string text_result(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    text += R"(The quick brown fox jumps over the lazy dog and goes home.\n)";
  }
  return R"json({"content":[{"type":"text","text":")json" + text + R"json("}]})json";
}

/// Rows of small numbers and short strings, with a structural character every few bytes: the worst
/// case of a structural index.
inline std::string dense_result(std::size_t bytes) {
  std::string rows;
  while (rows.size() < bytes) {
    rows += rows.empty() ? "" : ",";
    rows += R"json({"a":1,"b":[2,3],"c":"d","e":null,"f":true})json";
  }
  return R"json({"content":[],"structuredContent":{"rows":[)json" + rows + "]}}";
}

inline std::string result_first_id(std::string_view id, std::string_view result) {
  return R"json({"jsonrpc":"2.0","id":)json" + std::string(id) + R"json(,"result":)json" +
         std::string(result) + "}";
}

inline std::string result_last_id(std::string_view id, std::string_view result) {
  return R"json({"result":)json" + std::string(result) + R"json(,"jsonrpc":"2.0","id":)json" +
         std::string(id) + "}";
}

}  // namespace sitter::bench
