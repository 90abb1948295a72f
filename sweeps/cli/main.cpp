// deft: the program.

#include <fcntl.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/controls.h"
#include "base/error.h"
#include "base/inherited_signals.h"
#include "base/library_error.h"
#include "sweeps/cli/command_line.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/signals.h"

namespace {

// Where a standard stream is closed, the next file to be opened would get its number, and then whatever is printed. The
// streams that are opened here instead can be neither read nor written, so that printing still fails.
void occupy_standard_streams() {
    for (int number = 0; number <= 2; ++number)
        if (::fcntl(number, F_GETFD) < 0) (void)!::open("/dev/null", O_PATH);
}

// A driver starts its trials with the signals blocked that they look for; any other parent's mask means nothing here.
void reset_signals(std::string_view command) {
    if (command == "trial")
        deft::reset_inherited_signals(deft::sweeps::kWatchedSignals);
    else
        deft::reset_inherited_signals({});
}

// A message may have words of a file in it that somebody else wrote.
void report_error(const std::exception& error) {
    deft::cli::print_message("deft: error: " + deft::without_controls_in_lines(deft::message_for_user(error)) + "\n");
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_streams();
    reset_signals(argc > 1 ? argv[1] : "");
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        std::fputs("deft: error: this processor lacks AVX2 or FMA, which deft is built for\n", stderr);
        return deft::kExitUsage;
    }
    try {
        return deft::cli::run_command_line(argc, argv);
    } catch (const deft::Error& error) {
        report_error(error);
        return deft::exit_code(error.kind());
    } catch (const std::bad_alloc&) {
        std::fputs("deft: error: out of memory\n", stderr);
        return deft::kExitFailed;
    } catch (const std::exception& error) {
        report_error(error);
        return deft::kExitFailed;
    }
}
