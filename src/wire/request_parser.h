// Beast's HTTP/1 grammar, filling a Request without copies in between. Internal to wire.
#pragma once

#include <boost/beast/http/basic_parser.hpp>

#include <string_view>

#include "wire/http.h"

namespace drover::wire {

class RequestParser : public boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(Request& into) : request_(into) {}
  [[nodiscard]] bool is_http_11() const { return version_ >= 11; }

 private:
  using Text = boost::beast::string_view;
  using Ec = boost::beast::error_code;

  void on_request_impl(boost::beast::http::verb, Text method, Text target, int version, Ec&) override {
    request_.method.assign(method.data(), method.size());
    request_.target.assign(target.data(), target.size());
    version_ = version;
  }
  void on_response_impl(int, Text, int, Ec&) override {}
  void on_field_impl(boost::beast::http::field, Text name, Text value, Ec&) override {
    request_.headers.push_back({std::string(name), std::string(value)});
  }
  void on_header_impl(Ec&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& size, Ec&) override {
    if (size) request_.body.reserve(*size);
  }
  std::size_t on_body_impl(Text body, Ec&) override {
    request_.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, Ec&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Ec& error) override { return on_body_impl(body, error); }
  void on_finish_impl(Ec&) override {}

  Request& request_;
  int version_ = 11;
};

}  // namespace drover::wire
