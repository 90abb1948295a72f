// Exceptions of libraries never reach a user as they are.

#include "base/library_error.h"

#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;

TEST_CASE("A string that is not UTF-8 is named, with its bytes, anywhere in a JSON value") {
    const std::string bad = "lat\xEFin/root";
    for (const Json& value : {Json(bad), Json{{"a", {1, bad}}}, Json{{bad, 1}}}) {
        const std::string says = "\"lat\\xEFin/root\" is not UTF-8\n  help: give the file or folder a name in UTF-8";
        CHECK(test::refusal(
                  ErrorKind::usage, [&] { json_text(value); }, says) != "accepted");
        CHECK(test::refusal(
                  ErrorKind::usage, [&] { canonical_json(value); }, says) != "accepted");
    }
    CHECK(json_text({{"a", "lat\u00EFn"}}) == "{\"a\":\"lat\u00EFn\"}");
    CHECK(json_text({1}, 1) == "[\n 1\n]");
}

TEST_CASE("Exceptions of libraries are given to users as errors with the path and a fix") {
    const auto code = std::make_error_code(std::errc::permission_denied);
    CHECK(message_for_user(std::filesystem::filesystem_error("directory iterator cannot open", "/a/b", code)) ==
          "cannot use /a/b: Permission denied\n"
          "  help: make it readable and writable for this user, or choose another place");
    CHECK_THAT(message_for_user(std::filesystem::filesystem_error("x", "/a", "/b", code)),
               ContainsSubstring("/a or /b"));
    try {
        static_cast<void>(Json("\xEF").dump());
        FAIL("accepted");
    } catch (const Json::exception& error) {
        CHECK_THAT(message_for_user(error),
                   ContainsSubstring("is not UTF-8\n  help: ") && !ContainsSubstring("exception"));
    }
    CHECK(message_for_user(Error(ErrorKind::io, "what", "fix")) == "what\n  help: fix");
}
