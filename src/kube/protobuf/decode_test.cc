#include "kube/protobuf/decode.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "kube/json/print.h"
#include "kube/protobuf/utf8.h"

namespace drover::kube {
namespace {

using Writer = protozero::pbf_writer;

// A body with this message in it.
template <class Fill>
std::string body(std::string_view api_version, std::string_view kind, Fill fill) {
  std::string message;
  Writer out(message);
  fill(out);
  std::string unknown;
  Writer envelope(unknown);
  {
    Writer type(envelope, 1);
    type.add_string(1, api_version.data(), api_version.size());
    type.add_string(2, kind.data(), kind.size());
  }
  envelope.add_message(2, message);
  envelope.add_string(3, "");
  envelope.add_string(4, "");
  return std::string("k8s\0", 4) + unknown;
}

std::string decoded(const std::string& bytes) {
  const auto value = decode_protobuf(bytes);
  return value ? print(*value) : "error: " + value.error().message;
}

void add_entry(Writer& out, std::uint32_t number, const std::string& key,
               const std::string& value) {
  Writer entry(out, number);
  entry.add_string(1, key);
  entry.add_string(2, value);
}

TEST(Protobuf, DecodesWhatAGoClientSends) {
  // Go writes plain fields even when they are zero.
  const std::string namespaces = body("v1", "Namespace", [](Writer& out) {
    Writer metadata(out, 1);
    metadata.add_string(1, "team-a");
    metadata.add_string(2, "");
    metadata.add_string(3, "");
    metadata.add_int64(7, 0);
    metadata.add_message(8, std::string());  // no creation time
    add_entry(metadata, 11, "a", "b");
    metadata.add_string(14, "kubernetes");
  });
  EXPECT_EQ(
      decoded(namespaces),
      R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-a","labels":{"a":"b"},)"
      R"("finalizers":["kubernetes"]}})");
}

TEST(Protobuf, DecodesWhatKubectlSends) {
  // The body of kubectl 1.33 create namespace team-a.
  constexpr std::string_view kSent(
      "k8s\000\012\017\012\002v1\022\011Namespace\022\036\012\026\012\006team-"
      "a\022\000\032\000\042\000*\0002\0008\000B\000\022\000\032\002\012\000\032\000\042\000",
      57);
  EXPECT_EQ(
      decoded(std::string(kSent)),
      R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-a"},"spec":{},"status":{}})");
}

TEST(Protobuf, DecodesPods) {
  const std::string pod = body("v1", "Pod", [](Writer& out) {
    Writer spec(out, 2);
    {
      Writer volume(spec, 1);
      volume.add_string(1, "tmp");
      Writer source(volume, 2);              // inlined
      source.add_message(2, std::string());  // emptyDir: {}
    }
    {
      Writer container(spec, 2);
      container.add_string(1, "main");
      container.add_string(3, "sh");
      container.add_string(3, "");
      {
        Writer resources(container, 8);
        Writer limit(resources, 1);
        limit.add_string(1, "cpu");
        Writer quantity(limit, 2);
        quantity.add_string(1, "0.5");
      }
      {
        Writer probe(container, 10);
        {
          Writer handler(probe, 1);  // inlined
          Writer get(handler, 2);
          Writer port(get, 2);
          port.add_int64(1, 1);
          port.add_int32(2, 0);
          port.add_string(3, "http");
        }
        probe.add_int32(2, 5);
        probe.add_int32(3, 0);
      }
      container.add_bool(16, false);
    }
    spec.add_int64(4, 0);      // a grace period of zero is a wish
    spec.add_bool(11, false);  // no host network isn't
    spec.add_int32(25, -7);
    {
      Writer security(spec, 14);
      const std::int64_t groups[] = {1, 2};
      security.add_packed_int64(4, std::begin(groups), std::end(groups));
      security.add_int64(4, 3);
    }
    spec.add_string(9999, "from a later version");
  });
  EXPECT_EQ(
      decoded(pod),
      R"({"apiVersion":"v1","kind":"Pod","spec":{"volumes":[{"name":"tmp","emptyDir":{}}],)"
      R"("containers":[{"name":"main","command":["sh",""],"resources":{"limits":{"cpu":"500m"}},)"
      R"("livenessProbe":{"httpGet":{"port":"http"},"initialDelaySeconds":5}}],)"
      R"("terminationGracePeriodSeconds":0,"priority":-7,"securityContext":{"supplementalGroups":[1,2,3]}}})");
}

TEST(Protobuf, DecodesOtherTypes) {
  EXPECT_EQ(
      decoded(body("v1", "Secret",
                   [](Writer& out) {
                     add_entry(out, 2, "k", std::string("\x00\xff", 2));
                     out.add_string(3, "Opaque");
                     out.add_bool(5, false);
                   })),
      R"({"apiVersion":"v1","kind":"Secret","data":{"k":"AP8="},"type":"Opaque","immutable":false})");
  EXPECT_EQ(
      decoded(body("coordination.k8s.io/v1", "Lease",
                   [](Writer& out) {
                     Writer spec(out, 2);
                     Writer time(spec, 4);
                     time.add_int64(1, 1'780'099'445);
                     time.add_int32(2, 5000);
                   })),
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"renewTime":"2026-05-30T00:04:05.000005Z"}})");
  EXPECT_EQ(decoded(body("policy/v1", "PodDisruptionBudget",
                         [](Writer& out) {
                           Writer spec(out, 2);
                           Writer least(spec, 1);
                           least.add_int64(1, 0);
                           least.add_int32(2, 0);
                         })),
            R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","spec":{"minAvailable":0}})");
  EXPECT_EQ(decoded(body("v1", "DeleteOptions", [](Writer& out) { out.add_int64(1, 0); })),
            R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0})");
  EXPECT_EQ(
      decoded(body("authorization.k8s.io/v1", "SubjectAccessReview",
                   [](Writer& out) {
                     Writer spec(out, 2);
                     Writer entry(spec, 5);
                     entry.add_string(1, "scopes");
                     Writer value(entry, 2);
                     value.add_string(1, "a");
                     value.add_string(1, "b");
                   })),
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"extra":{"scopes":["a","b"]}}})");
  EXPECT_EQ(
      decoded(body("v1", "ConfigMap",
                   [](Writer& out) {
                     Writer metadata(out, 1);
                     Writer entry(metadata, 17);
                     Writer fields(entry, 7);
                     fields.add_string(1, R"({"f:data":{}})");
                   })),
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"managedFields":[{"fieldsV1":{"f:data":{}}}]}})");
}

TEST(Protobuf, RefusesDamage) {
  EXPECT_EQ(decoded("{}"),
            "error: provided data does not appear to be a protobuf message, expected prefix [107 "
            "56 115 0]");
  EXPECT_EQ(decoded(body("v1", "Foo", [](Writer&) {})),
            "error: no kind \"Foo\" is registered for version \"v1\"");
  const std::string start = "error: the protobuf message is damaged: ";
  EXPECT_EQ(decoded(std::string("k8s\0", 4) + "\x12\x7f"), start + "end of buffer exception");
  EXPECT_EQ(decoded(body("v1", "ConfigMap", [](Writer& out) { out.add_int64(1, 5); })),
            start + "unknown pbf field type exception");
  EXPECT_EQ(decoded(body("v1", "Secret", [](Writer& out) { out.add_string(3, "\xff"); })),
            start + "a string is not UTF-8");
  EXPECT_EQ(decoded(body("v1", "Pod",
                         [](Writer& out) {
                           Writer spec(out, 2);
                           Writer entry(spec, 32);
                           entry.add_string(1, "cpu");
                           Writer quantity(entry, 2);
                           quantity.add_string(1, "1x");
                         }))
                .substr(0, 60),
            start + "quantities must matc");
}

TEST(Utf8, IsChecked) {
  for (const char* good : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xff", "a\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

}  // namespace
}  // namespace drover::kube
