// Text that looks like a key or token never reaches the database.

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

TEST_CASE("A value is replaced whatever it looks like where its name proves it") {
    const struct {
        const char *text, *redacted;
    } cases[] = {
        {"+password = hunter2hunter\n", "+password = [redacted]\n"},
        {"PASS=abc!d@f", "PASS=[redacted]"},
        {"export PGPASSWORD=swordfish", "export PGPASSWORD=[redacted]"},
        {"MYSQL_PWD=swordfish; ls", "MYSQL_PWD=[redacted]; ls"},
        {"password: swordfish", "password: [redacted]"},
        {"password: str = \"swordfish\"", "password: str = \"[redacted]\""},
        {"set_password('swordfish')", "set_password('[redacted]')"},
        {"[\"--password\", \"swordfish\"]", "[\"--password\", \"[redacted]\"]"},
        {"mysql --password x -h db", "mysql --password [redacted] -h db"},
        {"API_TOKEN=onlyletters", "API_TOKEN=[redacted]"},
        {"https://hooks.slack.com/services/T00/B00/xyz", "https://hooks.slack.com/[redacted]"},
        {"url = \"https://discord.com/api/webhooks/1/xyz\"", "url = \"https://discord.com/[redacted]\""},
        {"curl -u user:pw https://example.org", "curl -u [redacted] https://example.org"},
        {"curl --user 'user:pw)x' example.org", "curl --user '[redacted]' example.org"},
        {"curl -uuser:pw example.org", "curl -uuser[redacted] example.org"},
        {"machine example.org login me password swordfish", "machine example.org login me password [redacted]"},
        {"+  login me\n+  password swordfish\n", "+  login me\n+  password [redacted]\n"},
        {"+token:\n+  0123456789abcdef0123456789abcdef\n+next\n", "+token:\n+  [redacted]\n+next\n"},
        {"  \"secret\":\n    \"swordfish\",\n", "  \"secret\":\n    \"[redacted]\",\n"},
        {"curl -H x --token \\\n  0123456789abcdef0123\n", "curl -H x --token \\\n  [redacted]\n"},
    };
    for (const auto& [text, redacted] : cases) CHECK(without_secrets(text) == redacted);
}

TEST_CASE("Short values, quotes and dollars inside of values, and logins of URLs and programs are replaced") {
    const struct {
        const char *text, *redacted;
    } cases[] = {
        {"PASS=ab", "PASS=[redacted]"},
        {"export DB_PWD=x", "export DB_PWD=[redacted]"},
        {"+password = abc\n", "+password = [redacted]\n"},
        {"password: 123", "password: [redacted]"},
        {"password = \"x\"", "password = \"[redacted]\""},
        {"{\"passwd\":\"ab\",\"n\":3}", "{\"passwd\":\"[redacted]\",\"n\":3}"},
        {"set_password(\"ab\")", "set_password(\"[redacted]\")"},
        {"  \"secret\":\n    \"ab\",\n", "  \"secret\":\n    \"[redacted]\",\n"},
        {"sshpass -p swordfish ssh -p 22 me@host", "sshpass -p [redacted] ssh -p 22 me@host"},
        {"sshpass -v -p 'sword fish' ssh host", "sshpass -v -p '[redacted]' ssh host"},
        {"/usr/bin/sshpass -pab ssh host", "/usr/bin/sshpass -p[redacted] ssh host"},
        {"sshpass -p\"$ecret\" ssh host", "sshpass -p\"[redacted]\" ssh host"},
        {"mysql -u root -pab db", "mysql -u root -p[redacted] db"},
        {"redis-cli -h db -a ab ping", "redis-cli -h db -a [redacted] ping"},
        {"git clone https://0f1e2d@example.org/x.git", "git clone https://[redacted]@example.org/x.git"},
        {"url = \"http://abc@example.org\"", "url = \"http://[redacted]@example.org\""},
        {"https://user:pw@host", "https://[redacted]@host"},
        {"https://user:p@w@host/x", "https://[redacted]@host/x"},
        {"https://token:@host", "https://[redacted]@host"},
        {"postgres://me:pw@host?sslmode=on", "postgres://[redacted]@host?sslmode=on"},
        {"password = \"$ecret\"", "password = \"[redacted]\""},
        {"PASS='$ecret!'", "PASS='[redacted]'"},
        {"password=\"pa$$word\"", "password=\"[redacted]\""},
        {"password = \"${USER}:hunter2\"", "password = \"[redacted]\""},
        {"password = \"a\\\"bc\", n = 3", "password = \"[redacted]\", n = 3"},
        {"password = 'it''s', n = 3", "password = '[redacted]', n = 3"},
        {"PASS='a'\\''b' ./run", "PASS='[redacted]' ./run"},
        {"PASS=\"a'b\"; ls", "PASS=\"[redacted]\"; ls"},
        {"password = f\"hunter{n}\"", "password = f\"[redacted]\""},
        {"text = \"{\\\"password\\\": \\\"hunter2\\\"}\"", "text = \"{\\\"password\\\": \\\"[redacted]\\\"}\""},
        {"{\"Authorization\": \"Bearer abc\"}", "{\"Authorization\": \"Bearer [redacted]\"}"},
    };
    for (const auto& [text, redacted] : cases) CHECK(without_secrets(text) == redacted);
}

TEST_CASE("Variables, numbers, types and short words of programs stay") {
    // clang-format off
    for (const char* text :
         {"PASS=\"$TOKEN\"", "PASS=${TOKEN}", "PASS='${TOKEN:-x}'", "password = \"${db_password}\"",
          "PGPASSWORD=\"$password\" ./run",
          "PASS=$1", "PASS=\"$(cat file)\"", "password=\"$db_pass\"", "{\"Authorization\": \"Bearer $TOKEN\"}",
          "{\"Authorization\": f\"Bearer {token}\"}", "sshpass -p \"$PW\" ssh -p 22 host", "sshpass -e ssh -p 22 host",
          "mkdir -p a/mysql -p b", "https://$TOKEN@host/x.git", "https://${USER}:${PW}@host",
          "ssh://git@github.com/a/b.git",
          "https://git@github.com/a/b.git", "https://example.org/@me", "curl -u me:$PW host", "int pass = 0;",
          "n_pass = 12",
          "PASS=3 FAIL=0", "bool pass = ok;", "pass = a && b;", "password_length = 8", "passwords = 5",
          "secret_count=12",
          "f(user=u, password=p)", "password = p;", "def f(password: str = \"\"):", "password: int", "password = \"\"",
          "if password == x:", "key = \"abc\"", "passed=yes", "password: a b c", "password |= x"})
        // clang-format on
        CHECK(without_secrets(text) == text);
}

TEST_CASE("References, calls and prose about passwords stay") {
    for (const char* text :
         {"password = os.environ[\"PW\"]", "PGPASSWORD=$DB_PASSWORD ./run", "password = None", "bool pass = true;",
          "std::string password = get_password(config);", "password: ${{ secrets.PASSWORD }}", "PWD=/home/user",
          "def check(password: str, n: int):", "password: the one that users type", "docker run -u 1000:1000 image",
          "secret:\n  name: x\n", "if password:\n    connect(host)\n", "max_tokens = 4096", "pad_token = \"<pad>\""})
        CHECK(without_secrets(text) == text);
}

TEST_CASE("A line of a megabyte is looked through at once") {
    std::string line;
    while (line.size() < (1u << 20)) line += "a/b+c=";
    CHECK(without_secrets(line) == line);
    for (const char* part : {"password=", "key=", "key=\"'", "PASS='", "mysql ", "https://a@", "password: a ",
                             "login password ", "--password ", "token\n", "curl -u ", "//a"}) {
        std::string text;
        while (text.size() < (1u << 18)) text += part;
        CHECK(!without_secrets(text).empty());
    }
}
