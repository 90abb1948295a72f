#pragma once
// A headless Chromium that a test drives through its own driver (the W3C's WebDriver protocol).

#include <httplib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/catch.h"
#include "tests/free_port.h"
#include "tests/sweeps/program.h"

namespace deft::test {

inline constexpr const char* kChromium = "/usr/bin/chromium";
inline constexpr const char* kChromeDriver = "/usr/bin/chromedriver";
inline constexpr const char* kNoBrowser = "no Chromium (Debian: chromium, chromium-driver)";

inline bool has_browser() {
    return std::filesystem::exists(kChromium) && std::filesystem::exists(kChromeDriver);
}

// Texts of one picture whose boxes overlap, as a body for Browser::run().
inline const std::string kCollidingTexts = R"js(
    const found = [];
    for (const svg of document.querySelectorAll('svg')) {
        const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim().length > 1 && t.getBoundingClientRect().width);
        texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
            const p = a.getBoundingClientRect(), q = b.getBoundingClientRect();
            if (p.left + 1 < q.right && q.left + 1 < p.right && p.top + 3 < q.bottom && q.top + 3 < p.bottom)
                found.push(a.textContent + ' | ' + b.textContent);
        }));
    }
    return found;)js";

// Such a body, too: whether the window is as wide as the page needs.
inline const std::string kFitsWindow = "return document.documentElement.scrollWidth <= window.innerWidth";

class Browser {
 public:
    // Its window is `width` pixels wide.
    Browser(const std::filesystem::path& folder, int width)
        : driver_({kChromeDriver, fmt::format("--port={}", port_.number())}, folder / "driver.out",
                  folder / "driver.err"),
          client_("127.0.0.1", port_.number()) {
        client_.set_read_timeout(120);
        REQUIRE(wait_until([&] { return client_.Get("/status") != nullptr; }));
        const Json options = {{"binary", kChromium},
                              {"args",
                               {"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                fmt::format("--window-size={},1400", width)}}};
        const Json wanted = {{"alwaysMatch",
                              {{"browserName", "chrome"},
                               {"goog:chromeOptions", options},
                               {"goog:loggingPrefs", {{"browser", "ALL"}, {"performance", "ALL"}}}}}};
        session_ = "/session/" + post("/session", {{"capabilities", wanted}}).at("sessionId").get<std::string>();
    }
    ~Browser() { client_.Delete(session_); }
    Browser(const Browser&) = delete;
    Browser& operator=(const Browser&) = delete;

    void open(const std::string& address) { post(session_ + "/url", {{"url", address}}); }

    // Pages that are opened later do not run their scripts; run() still does.
    void block_scripts() {
        post(session_ + "/goog/cdp/execute",
             {{"cmd", "Emulation.setScriptExecutionDisabled"}, {"params", {{"value", true}}}});
    }

    // The value that the function body returns.
    Json run(const std::string& script) {
        return post(session_ + "/execute/sync", {{"script", script}, {"args", Json::array()}});
    }

    // Errors and warnings that the page wrote to the console.
    std::vector<std::string> complaints() {
        std::vector<std::string> texts;
        for (const Json& line : post(session_ + "/se/log", {{"type", "browser"}}))
            if (line.at("level") == "SEVERE" || line.at("level") == "WARNING")
                texts.push_back(line.at("message").get<std::string>());
        return texts;
    }

    // Addresses that were asked for since the last call.
    std::vector<std::string> requests() {
        std::vector<std::string> addresses;
        for (const Json& line : post(session_ + "/se/log", {{"type", "performance"}})) {
            const Json event = Json::parse(line.at("message").get<std::string>()).at("message");
            if (event.at("method") == "Network.requestWillBeSent")
                addresses.push_back(event.at("params").at("request").at("url").get<std::string>());
        }
        return addresses;
    }

 private:
    Json post(const std::string& path, const Json& body) {
        const auto answer = client_.Post(path, body.dump(), "application/json");
        if (!answer) throw std::runtime_error("chromedriver does not answer " + path);
        const Json json = Json::parse(answer->body);
        if (answer->status != 200) throw std::runtime_error(path + ": " + json.dump());
        return json.at("value");
    }

    FreePort port_;
    Process driver_;
    httplib::Client client_;
    std::string session_;
};

}  // namespace deft::test
