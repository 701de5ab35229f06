#include "curl.hpp"

#include <curl/curl.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace sitter::bench {
namespace {

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* to) {
  static_cast<std::string*>(to)->append(bytes, size * count);
  return size * count;
}

class CurlCaller : public Caller {
 public:
  explicit CurlCaller(const std::string& url) {
    for (const char* const header :
         {"Content-Type: application/json", "Accept: application/json, text/event-stream"}) {
      headers_ = curl_slist_append(headers_, header);
    }
    curl_easy_setopt(curl_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(curl_, CURLOPT_POST, 1L);
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_, CURLOPT_PROXY, "");
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &body_);
    call(kInitialize, 1);
    call(kInitialized, 1);
  }
  ~CurlCaller() override {
    curl_easy_cleanup(curl_);
    curl_slist_free_all(headers_);
  }

  /// Only one line at a time.
  std::size_t call(std::string_view line, std::size_t) override {
    body_.clear();
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(line.size() - 1));
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, line.data());
    const CURLcode result = curl_easy_perform(curl_);
    if (result != CURLE_OK) die(curl_easy_strerror(result));
    return body_.size() + 1;
  }
  pid_t pid() const override { return getpid(); }

 private:
  CURL* curl_ = curl_easy_init();
  curl_slist* headers_ = nullptr;
  std::string body_;
};

}  // namespace

bool has_curl() { return true; }

std::unique_ptr<Caller> call_with_curl(const std::string& url) {
  return std::make_unique<CurlCaller>(url);
}

}  // namespace sitter::bench
