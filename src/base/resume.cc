#include "base/resume.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace drover {
namespace {

constexpr std::size_t kHeader = kFrameHeader;
constexpr char kMessage = 0;
constexpr char kConfirm = 1;
constexpr std::size_t kCount = 8;

std::string header(char kind, std::size_t length) {
  return {static_cast<char>(length & 0xFFU), static_cast<char>((length >> 8U) & 0xFFU),
          static_cast<char>((length >> 16U) & 0xFFU), kind};
}

std::size_t length_of(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  return at(0) | (at(1) << 8U) | (at(2) << 16U);
}

std::string confirmation_of(std::uint64_t count) {
  std::string bytes = header(kConfirm, kCount);
  for (std::size_t i = 0; i < kCount; ++i) bytes.push_back(static_cast<char>((count >> (8 * i)) & 0xFFU));
  return bytes;
}

std::uint64_t count_in(std::string_view bytes) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    count |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return count;
}

}  // namespace

std::string frame(std::string_view message) {
  CHECK(message.size() <= kLargestMessage);
  return header(kMessage, message.size()).append(message);
}

void begin_frame(std::string& framed) {
  CHECK(framed.size() >= kHeader && framed.size() <= kHeader + kLargestMessage);
  framed.replace(0, kHeader, header(kMessage, framed.size() - kHeader));
}

std::size_t frame_length(std::string_view bytes) {
  return bytes.size() < kHeader ? kHeader : kHeader + length_of(bytes);
}

Result<std::string_view> take_frame(std::string_view& bytes, bool& whole) {
  whole = false;
  if (bytes.size() < kHeader) return std::string_view{};
  const std::size_t length = length_of(bytes);
  if (bytes[3] != kMessage || length > kLargestMessage) return Error{Errc::invalid, "not a frame of a step's stream"};
  if (bytes.size() < kHeader + length) return std::string_view{};
  const std::string_view message = bytes.substr(kHeader, length);
  bytes.remove_prefix(kHeader + length);
  whole = true;
  return message;
}

void ResumableStream::send(std::string_view message) { send_framed(frame(message)); }

void ResumableStream::send_framed(std::string framed) {
  kept_bytes_ += framed.size();
  kept_.push_back(std::move(framed));
}

void ResumableStream::hold_confirmations(bool hold) {
  holds_ = hold;
  if (!hold && std::exchange(held_, false)) plan_confirmation();
}

void ResumableStream::plan_confirmation() {
  if (holds_) {
    held_ = true;
  } else if (written_ == 0) {
    confirmation_ = confirmation_of(received_);
  } else {
    confirm_due_ = true;
  }
}

std::string_view ResumableStream::pending() const {
  if (!connected_) return {};
  if (!confirmation_.empty()) return std::string_view(confirmation_).substr(written_);
  if (next_ >= kept_.size()) return {};
  return std::string_view(kept_[next_]).substr(written_);
}

void ResumableStream::wrote(std::size_t bytes) {
  if (bytes == 0) return;
  written_ += bytes;
  const bool confirming = !confirmation_.empty();
  if (written_ < (confirming ? confirmation_.size() : kept_[next_].size())) return;
  written_ = 0;
  if (confirming) {
    confirmation_.clear();
  } else {
    ++next_;
  }
  if (confirm_due_) {  // as late as possible, so that one covers many
    confirmation_ = confirmation_of(received_);
    confirm_due_ = false;
  }
}

Status ResumableStream::feed(std::string_view bytes, const std::function<void(std::string_view)>& on_message) {
  bool news = false;
  // Whole frames off the front of `from`.
  const auto take = [&](std::string_view& from) -> Status {
    while (from.size() >= kHeader) {
      const std::size_t length = length_of(from);
      const char kind = from[3];
      const bool good = kind == kMessage ? length <= kLargestMessage : kind == kConfirm && length == kCount;
      if (!good) return Error{Errc::invalid, "not a frame of a step's stream"};
      if (from.size() < kHeader + length) break;
      const std::string_view body = from.substr(kHeader, length);
      from.remove_prefix(kHeader + length);
      if (kind == kConfirm) {
        const std::uint64_t count = count_in(body);
        if (count < confirmed_ || count > confirmed_ + next_) {
          return Error{Errc::invalid, "the peer confirms what was not sent"};
        }
        confirm(count);
      } else {
        ++received_;
        news = true;
        on_message(body);
      }
    }
    return Done{};
  };
  // A begun frame is joined with no more than its rest: what follows is read where it is.
  while (!partial_.empty() && !bytes.empty()) {
    const std::size_t more = std::min(frame_length(partial_) - partial_.size(), bytes.size());
    std::string begun = std::exchange(partial_, {}).append(bytes.substr(0, more));
    bytes.remove_prefix(more);
    std::string_view rest = begun;
    TRY(take(rest));
    if (!rest.empty()) partial_ = std::move(begun);
  }
  TRY(take(bytes));
  partial_ += bytes;
  if (news) plan_confirmation();
  return Done{};
}

void ResumableStream::confirm(std::uint64_t count) {
  for (; confirmed_ < count; ++confirmed_) {
    kept_bytes_ -= kept_.front().size();
    kept_.pop_front();
    --next_;
  }
}

Status ResumableStream::connected(std::uint64_t peer_received) {
  lost();
  if (peer_received < confirmed_ || peer_received > confirmed_ + kept_.size()) {
    return Error{Errc::invalid, "the peer's place in the stream is not one of ours"};
  }
  next_ = peer_received - confirmed_;
  confirm(peer_received);
  connected_ = true;
  return Done{};
}

void ResumableStream::lost() {
  connected_ = false;
  next_ = 0;
  written_ = 0;
  confirmation_.clear();
  confirm_due_ = false;
  held_ = false;  // the next connection begins with how much we have
  partial_.clear();
}

}  // namespace drover
