// What looks like a key or token never reaches the database.

#include "sweeps/driver/redact.h"

#include <string>

#include "tests/catch.h"

using deft::sweeps::without_secrets;

TEST_CASE("Keys, tokens and passwords are replaced, and code stays as it is") {
    // In pieces, so that no scanner takes this file for a leak.
    const std::string hub = "hf_" + std::string("AbCdEfGhIjKlMnOpQrStUvWxYz0123456789");
    const std::string git = "ghp_" + std::string("0123456789abcdefghijABCDEFGHIJ012345");
    const std::string aws = "AKIA" + std::string("IOSFODNN7EXAMPLE");
    CHECK(without_secrets("+token = \"" + hub + "\"\n") == "+token = \"[redacted]\"\n");
    CHECK(without_secrets("-curl -H 'Authorization: Bearer " + git + "'") ==
          "-curl -H 'Authorization: Bearer [redacted]'");
    CHECK(without_secrets("login(" + hub + ", " + aws + ")") == "login([redacted], [redacted])");
    CHECK(without_secrets("export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567") ==
          "export WANDB_API_KEY=[redacted]");
    CHECK(without_secrets("{\"db_password\": \"correct horse\", \"n\": 3}") ==
          "{\"db_password\": \"[redacted]\", \"n\": 3}");
    CHECK(without_secrets("git clone https://me:s3cr3t@example.org/x.git") ==
          "git clone https://[redacted]@example.org/x.git");
    CHECK(without_secrets("a\n+-----BEGIN RSA PRIVATE KEY-----\n+MIIEow\n+AAA\n+-----END RSA PRIVATE KEY-----\nb\n") ==
          "a\n[redacted]\nb\n");
    for (const char* code :
         {"tokenizer = \"bpe-1024\"", "const std::string key = \"baseline\";",
          "tokens_per_second = 12345678901234567890", "std::uint64_t key = philox::make_key(seed, step);",
          "index 0123456789abcdef..fedcba9876543210 100644", "https://example.org/a:b@c",
          "Token token = next_token(lexer, 12345678);", "diff --git a/key.cpp b/key.cpp"})
        CHECK(without_secrets(code) == code);
}

TEST_CASE("A line of a megabyte is looked through at once") {
    std::string line;
    while (line.size() < (1u << 20)) line += "a/b+c=";
    CHECK(without_secrets(line) == line);
}
