// Sets of images by name: from files of a folder, and from the mirror.

#include "experiments/datasets/image_dataset.h"

#include <string>
#include <vector>

#include "base/sha256.h"
#include "experiments/datasets/find_file.h"
#include "tests/catch.h"
#include "tests/packed_text.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::experiments;
using test::TemporaryFolder;
using test::WithVariable;
using test::write_text;

namespace {

// A file of labels, and one of as many images of one pixel, which is the label.
std::string idx_labels(const std::string& labels) {
    return std::string{0, 0, 8, 1, 0, 0, 0, static_cast<char>(labels.size())} + labels;
}
std::string idx_pixels(const std::string& labels) {
    return std::string{0, 0, 8, 3, 0, 0, 0, static_cast<char>(labels.size()), 0, 0, 0, 1, 0, 0, 0, 1} + labels;
}

std::string cifar_images(const std::string& labels) {
    std::string records;
    for (const char label : labels) records += label + std::string(3 * 32 * 32, label);
    return records;
}

// images: of the files to train on.
CatalogueEntry images_entry(const std::string& reader, const std::vector<CatalogueFile>& files, std::int64_t images) {
    CatalogueEntry entry;
    entry.name = "set";
    entry.kind = "images";
    entry.height = entry.width = reader == "idx" ? 1 : 32;
    entry.channels = reader == "idx" ? 1 : 3;
    entry.classes = 10;
    entry.forms = {{"official", reader, "", files, images}};
    return entry;
}

CatalogueFile of_split(const std::string& path, const std::string& split, const std::string& hash = "unknown") {
    return {path, "", hash, 0, split};
}

using Labels = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("image data set: files of the splits are joined, packed or plain", "[bare]") {
    const TemporaryFolder folder;
    const WithVariable mirror("DEFT_DATA_MIRROR", folder.path().string());
    write_text(folder / "one.gz", test::gzip(cifar_images("\1\2")));
    write_text(folder / "two", cifar_images("\3"));
    write_text(folder / "three", cifar_images("\4\5"));
    const CatalogueEntry entry =
        images_entry("cifar10", {of_split("one", "train"), of_split("two", "train"), of_split("three", "test")}, 3);
    const ImageDataset dataset = read_image_dataset(entry, 0, ".");
    CHECK(dataset.form == "official");
    CHECK(dataset.training.labels == Labels{1, 2, 3});
    CHECK(dataset.training.image(2)[0] == 3);
    CHECK(dataset.testing.labels == Labels{4, 5});
    CHECK(dataset.sha256 ==
          sha256(sha256(cifar_images("\1\2")) + sha256(cifar_images("\3")) + sha256(cifar_images("\4\5"))));
}

TEST_CASE("image data set: images without splits are divided", "[bare]") {
    const TemporaryFolder folder;
    const WithVariable mirror("DEFT_DATA_MIRROR", folder.path().string());
    const std::string labels{1, 1, 2, 2, 2, 1};
    write_text(folder / "i", idx_pixels(labels));
    write_text(folder / "l.gz", test::gzip(idx_labels(labels)));
    const CatalogueEntry entry = images_entry("idx", {of_split("i", ""), of_split("l", "")}, 6);
    const ImageDataset dataset = read_image_dataset(entry, 3, ".");
    CHECK(dataset.training.labels == Labels{1, 1, 2, 2});
    CHECK(dataset.testing.labels == Labels{2, 1});
    CHECK(dataset.testing.classes == 10);
    CHECK_THAT(test::refusal([&] { read_image_dataset(entry, 1, "."); }), ContainsSubstring("at least 2"));
}

TEST_CASE("image data set: pairs of files go together", "[bare]") {
    const TemporaryFolder folder;
    const WithVariable mirror("DEFT_DATA_MIRROR", folder.path().string());
    write_text(folder / "i", idx_pixels("\1\2"));
    write_text(folder / "l", idx_labels("\1\2"));
    write_text(folder / "ti", idx_pixels("\3"));
    write_text(folder / "tl", idx_labels("\3"));
    const CatalogueEntry entry = images_entry(
        "idx", {of_split("i", "train"), of_split("l", "train"), of_split("ti", "test"), of_split("tl", "test")}, 2);
    const ImageDataset dataset = read_image_dataset(entry, 0, ".");
    CHECK(dataset.training.pixels == std::vector<std::uint8_t>{1, 2});
    CHECK(dataset.training.labels == Labels{1, 2});
    CHECK(dataset.testing.pixels == std::vector<std::uint8_t>{3});
    CHECK(dataset.testing.labels == Labels{3});
}

TEST_CASE("image data set: what is missing, another or none is refused", "[bare]") {
    const TemporaryFolder folder;
    const WithVariable mirror("DEFT_DATA_MIRROR", folder.path().string());
    write_text(folder / "one", cifar_images("\1"));
    CatalogueEntry entry = images_entry("cifar10", {of_split("one", "train"), of_split("two", "test")}, 1);
    const auto wrong = [&](ErrorKind kind) { return test::refusal(kind, [&] { read_image_dataset(entry, 0, "."); }); };
    CHECK_THAT(wrong(ErrorKind::data),
               ContainsSubstring("two of data set set is missing") && ContainsSubstring("deft data get set"));
    write_text(folder / "two", cifar_images("\2"));
    entry.forms[0].files[1].sha256 = sha256(cifar_images("\2"));
    CHECK(read_image_dataset(entry, 0, ".").testing.count() == 1);
    entry.forms[0].files[1].sha256 = sha256(cifar_images("\3"));
    CHECK_THAT(wrong(ErrorKind::io), ContainsSubstring("is expected of two"));
    entry.kind = "task";
    CHECK_THAT(wrong(ErrorKind::config), ContainsSubstring("is a task, and holds no images"));
}

TEST_CASE("image data set: MNIST and CIFAR-10 as they are at hand", "[bare]") {
    if (mirror_folder().empty()) DEFT_SKIP("no data files: set DEFT_DATA_MIRROR");
    const auto at_hand = [](const CatalogueEntry& entry) {
        for (const CatalogueFile& file : form_at_hand(entry, ".").files)
            if (!look_for_data_file(file.path, ".")) return false;
        return true;
    };
    const CatalogueEntry digits = catalogue_entry("mnist"), photographs = catalogue_entry("cifar10");
    if (!at_hand(digits) || !at_hand(photographs)) DEFT_SKIP("no images: set DEFT_DATA_MIRROR");
    const ImageDataset mnist = read_image_dataset(digits, 5, ".");
    CHECK(mnist.training.count() >= 8000);
    CHECK(mnist.testing.count() >= 2000);
    CHECK(mnist.training.image_pixels() == 28 * 28);
    const ImageDataset cifar = read_image_dataset(photographs, 0, ".");
    CHECK(cifar.training.count() >= 2500);
    CHECK(cifar.testing.count() >= 1000);
    CHECK(cifar.training.image_pixels() == 3 * 32 * 32);
    CHECK(cifar.training.classes == photographs.classes);
}
