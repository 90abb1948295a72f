#pragma once
// A task of labelled texts in a folder, with its vocabulary and records.

#include <string>

#include "base/files.h"
#include "experiments/config.h"
#include "tests/experiments/trial_config.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace deft::test {

inline const std::string kToyColumns = "format = \"tsv\"\ncolumns = [\"a\", \"b\", \"label\"]\n";
inline const std::string kToyHead = "name = \"toy\"\nversion = \"7\"\nsplit = \"near\"\n";
inline const std::string kToyRecords = "[train]\nfile = \"train.tsv\"\n" + kToyColumns +
                                       "[records]\nfile = \"near.tsv\"\n" + kToyColumns +
                                       "[texts]\nfirst = \"{a}\"\nsecond = \"{b}\"\nlabel = \"label\"\n";
inline const std::string kToyClasses = "labels = [\"no\", \"yes\"]\n";
inline const std::string kToyFar = "[[further_splits]]\nsplit = \"far\"\nfile = \"far.tsv\"\n" + kToyColumns;

// Pairs of nine words, whose label is whether both hold the first of them; or how often they hold it, as 1.5 for each.
struct ToyTask {
    static constexpr int kTrain = 21, kNear = 13, kFar = 6;
    TemporaryFolder folder;
    WithVariable mirror{"DEFT_DATA_MIRROR", "/nowhere"};

    explicit ToyTask(bool of_values = false) {
        std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
        for (int i = 0; i < 9; ++i) vocabulary += "w" + std::to_string(i) + "\n";
        write_file_atomically(folder / "words.txt", vocabulary);
        write_file_atomically(folder / "train.tsv", records(0, kTrain, of_values));
        write_file_atomically(folder / "near.tsv", records(100, kNear, of_values));
        write_file_atomically(folder / "far.tsv", records(200, kFar, of_values));
        write_file_atomically(folder / "toy.toml", definition(of_values) + kToyFar);
    }

    static std::string definition(bool of_values) {
        return kToyHead +
               (of_values ? "kind = \"regression\"\nmetrics = [\"spearman\", \"pearson\"]\n"
                          : "kind = \"classification\"\nmetrics = [\"mcc\", \"acc\", \"f1\"]\n") +
               kToyRecords + (of_values ? "" : kToyClasses);
    }

    static std::string records(int first, int count, bool of_values) {
        std::string lines;
        for (int i = first; i < first + count; ++i) {
            std::string texts[2];
            bool has[2] = {i % 2 == 0 || i % 7 == 3, i % 3 != 1};
            for (int t = 0; t < 2; ++t) {
                for (int w = 0; w < 2 + (i + t) % 3; ++w)
                    texts[t] += "w" + std::to_string(1 + (i * (w + 2) + w * w + t) % 8) + " ";
                if (has[t]) texts[t] += "w0";
            }
            const std::string value = std::to_string(has[0] + has[1]) == "0" ? "0" : has[0] && has[1] ? "3.9" : "1.5";
            lines += texts[0] + "\t" + texts[1] + "\t" + (of_values ? value : has[0] && has[1] ? "yes" : "no") + "\n";
        }
        return lines;
    }

    // more: of [data] before the other tables.
    std::string toml(const std::string& data = "", const std::string& tables = "") const {
        return "[data]\nsamples = \"labelled\"\ncorpus = \"toy\"\ntokenizer = \"words.txt\"\n" + data +
               "[model]\nlayers = 2\nwidth = 16\nheads = 2\nseqlen = 16\ninit_std = 0.1\ndropout = 0\n"
               "attention_dropout = 0\ninput_dropout = 0\n" +
               "[train]\nbatch_size = 4\nmicro_batch_size = 3\nepochs = 3\nlearning_rate = 3e-3\n" + tables;
    }

    experiments::TrialConfig parse(const std::string& data = "", const std::string& tables = "") const {
        return trial_of(toml(data, tables), folder.path());
    }
    experiments::TrialConfig resolved(const std::string& data = "", const std::string& tables = "") const {
        experiments::TrialConfig config = parse(data, tables);
        resolve_data(config);
        return config;
    }
    std::string wrong(const std::string& text) const {
        return refusal([&] { trial_of(text, folder.path()); });
    }
};

}  // namespace deft::test
