// IDX and CIFAR files, built here byte by byte from the published layouts, and the sets of images read from them.

#include <cmath>
#include <string>
#include <vector>

#include "engine/data/images/cifar_file.h"
#include "engine/data/images/idx_file.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/packed_text.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using test::TemporaryFolder;
using test::write_text;

namespace {

std::string big_endian(std::uint32_t value) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(value >> shift & 255));
    return text;
}

std::string idx_header(int type, const std::vector<std::uint32_t>& sizes) {
    std::string text = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
    for (const std::uint32_t size : sizes) text += big_endian(size);
    return text;
}

std::string counting(int count, int first = 0) {
    std::string text;
    for (int i = 0; i < count; ++i) text.push_back(static_cast<char>(first + i));
    return text;
}

// Two images of 2 x 3 pixels 250, 251, ..., and their labels 9 and 0.
std::string small_images() {
    return idx_header(8, {2, 2, 3}) + counting(12, 250);
}
std::string small_labels() {
    return idx_header(8, {2}) + std::string{9, 0};
}

ImageSet read_small_idx(const std::string& images, const std::string& labels, std::int64_t classes = 10) {
    return read_idx(image_file("pixels", images), image_file("answers", labels), classes);
}

// The reader's refusal of these files; it names the wrong one.
std::string wrong_images(const std::string& images) {
    return test::refusal(
        ErrorKind::io, [&] { read_small_idx(images, small_labels()); }, "pixels: ");
}
std::string wrong_labels(const std::string& labels) {
    return test::refusal(
        ErrorKind::io, [&] { read_small_idx(small_images(), labels); }, "answers: ");
}

constexpr int kPlane = 32 * 32;

// A record with planes of one value each.
std::string cifar_record(const std::vector<int>& labels, char red, char green, char blue) {
    std::string record;
    for (const int label : labels) record.push_back(static_cast<char>(label));
    return record + std::string(kPlane, red) + std::string(kPlane, green) + std::string(kPlane, blue);
}

std::string wrong_cifar(const std::string& bytes, CifarFormat format) {
    return test::refusal(
        ErrorKind::io, [&] { read_cifar(image_file("batch.bin", bytes), format); }, "batch.bin: ");
}

// Images of one pixel with these labels; the pixels count up.
ImageSet with_labels(const std::vector<std::int32_t>& labels, std::int64_t classes) {
    ImageSet images{1, 1, 1, classes, {}, labels};
    for (std::size_t i = 0; i < labels.size(); ++i) images.pixels.push_back(static_cast<std::uint8_t>(i));
    return images;
}

}  // namespace

TEST_CASE("idx: images and labels are read as they are laid out", "[bare]") {
    const ImageSet images = read_small_idx(small_images(), small_labels());
    CHECK(images.channels == 1);
    CHECK(images.height == 2);
    CHECK(images.width == 3);
    CHECK(images.classes == 10);
    CHECK(images.count() == 2);
    CHECK(images.pixels == std::vector<std::uint8_t>{250, 251, 252, 253, 254, 255, 0, 1, 2, 3, 4, 5});
    CHECK(images.labels == std::vector<std::int32_t>{9, 0});
    CHECK(images.image(1)[0] == 0);
    CHECK(images.image(1).size() == 6);
}

TEST_CASE("idx: sizes are big-endian, and read from all four bytes", "[bare]") {
    const ImageSet images =
        read_small_idx(idx_header(8, {1, 1, 258}) + std::string(258, '\x7'), idx_header(8, {1}) + '\3');
    CHECK(images.width == 258);
    CHECK_THAT(wrong_images(idx_header(8, {2, 2, 3 + (1 << 16)}) + counting(12)), ContainsSubstring("65539"));
    CHECK_THAT(wrong_images(idx_header(8, {2, 2, 3 + (1 << 24)}) + counting(12)), ContainsSubstring("16777219"));
}

TEST_CASE("idx: plain and packed files hold the same images", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "i", small_images());
    write_text(folder / "l", small_labels());
    write_text(folder / "i.gz", test::gzip(small_images()));
    write_text(folder / "l.gz", test::gzip(small_labels()));
    const ImageSet plain = read_idx_files(folder / "i", folder / "l", 10),
                   packed = read_idx_files(folder / "i.gz", folder / "l.gz", 10);
    CHECK(plain.pixels == read_small_idx(small_images(), small_labels()).pixels);
    CHECK(packed.pixels == plain.pixels);
    CHECK(packed.labels == plain.labels);

    const std::string gzip = test::gzip(small_images());
    write_text(folder / "cut.gz", gzip.substr(0, gzip.size() - 4));
    write_text(folder / "misnamed", gzip);
    const auto wrong_file = [&](const char* name) {
        return test::refusal(ErrorKind::io, [&] { read_idx_files(folder / name, folder / "l", 10); });
    };
    CHECK_THAT(wrong_file("cut.gz"), ContainsSubstring("cut.gz: truncated gzip"));
    CHECK_THAT(wrong_file("none"), ContainsSubstring("none"));
    CHECK_THAT(wrong_file("misnamed"), ContainsSubstring("ends in .gz"));
}

TEST_CASE("idx: hostile images are refused", "[bare]") {
    CHECK_THAT(wrong_images(""), ContainsSubstring("no IDX file"));
    CHECK_THAT(wrong_images(std::string(3, '\0')), ContainsSubstring("no IDX file"));
    CHECK_THAT(wrong_images("\1" + small_images().substr(1)), ContainsSubstring("no IDX file"));
    CHECK_THAT(wrong_images(std::string{0, 1} + small_images().substr(2)), ContainsSubstring("no IDX file"));
    for (const int type : {0, 9, 11, 12, 13, 14, 255})
        CHECK_THAT(wrong_images(idx_header(type, {2, 2, 3}) + counting(12)),
                   ContainsSubstring("type code " + std::to_string(type)) && ContainsSubstring("unsigned bytes (8)"));
    CHECK_THAT(wrong_images(small_labels()), ContainsSubstring("it has 1 dimension, and images have 3"));
    CHECK_THAT(wrong_images(idx_header(8, {2, 2, 3, 1}) + counting(12)), ContainsSubstring("it has 4 dimensions"));
    CHECK_THAT(wrong_images(idx_header(8, {2, 2, 3}).substr(0, 15)), ContainsSubstring("truncated in its header"));
    for (const std::vector<std::uint32_t>& sizes : {std::vector<std::uint32_t>{0, 2, 3}, {2, 0, 3}, {2, 2, 0}})
        CHECK_THAT(wrong_images(idx_header(8, sizes)), ContainsSubstring("is zero"));
    const std::uint32_t most = 0xffffffff;
    CHECK_THAT(wrong_images(idx_header(8, {most, most, most}) + counting(12)),
               ContainsSubstring("truncated: 12 values where its header declares 4294967295 x 4294967295 x 429496"));
    // A product of 2^64, which wraps to the nothing that is there.
    CHECK_THAT(wrong_images(idx_header(8, {1u << 31, 1u << 31, 4})), ContainsSubstring("truncated: 0 values"));
    CHECK_THAT(wrong_images(idx_header(8, {1u << 31, 1u << 31, 4}) + counting(12)), ContainsSubstring("truncated"));
    CHECK_THAT(wrong_images(small_images().substr(0, 27)), ContainsSubstring("truncated: 11 values") &&
                                                               ContainsSubstring("2 x 2 x 3") &&
                                                               ContainsSubstring("again"));
    CHECK_THAT(wrong_images(small_images() + "x"), ContainsSubstring("too long: 13 values"));
    CHECK_THAT(wrong_images(small_images() + small_images()), ContainsSubstring("too long: 40 values"));
}

TEST_CASE("idx: hostile labels are refused", "[bare]") {
    CHECK_THAT(wrong_labels(small_images()), ContainsSubstring("it has 3 dimensions, and labels have 1") &&
                                                 ContainsSubstring("images (three dimensions) first"));
    CHECK_THAT(wrong_labels(idx_header(8, {3}) + counting(3)), ContainsSubstring("3 labels, and pixels has 2 images"));
    CHECK_THAT(wrong_labels(idx_header(8, {1}) + counting(1)), ContainsSubstring("1 label, and pixels has 2 images"));
    CHECK_THAT(wrong_labels(idx_header(8, {2}) + std::string{1}), ContainsSubstring("truncated: 1 values"));
    CHECK_THAT(wrong_labels(small_labels() + "x"), ContainsSubstring("too long: 3 values"));
    CHECK_THAT(wrong_labels(idx_header(8, {2}) + std::string{0, 10}),
               ContainsSubstring("label 1 is 10, and there are 10 classes"));
    CHECK_THAT(wrong_labels(idx_header(8, {2}) + "\xff\1"), ContainsSubstring("label 0 is 255"));
    CHECK(read_small_idx(small_images(), idx_header(8, {2}) + "\xff\1", 256).labels[0] == 255);
    for (const int classes : {0, -1})
        CHECK_THAT(test::refusal([&] { read_small_idx(small_images(), small_labels(), classes); }),
                   ContainsSubstring("classes"));
}

TEST_CASE("idx: the real test images of MNIST", "[bare]") {
    const std::string pixels = "images/mnist/t10k-images-idx3-ubyte.gz",
                      labels = "images/mnist/t10k-labels-idx1-ubyte.gz";
    if (!golden::has_data(pixels) || !golden::has_data(labels)) DEFT_SKIP("no MNIST: set DEFT_DATA_MIRROR");
    const ImageSet images = read_idx_files(golden::mirror() / pixels, golden::mirror() / labels, 10);
    CHECK(images.count() == 10'000);
    CHECK(images.height == 28);
    CHECK(images.width == 28);
    // The published beginning of the test labels, and how many there are of each class.
    CHECK(std::vector<std::int32_t>(images.labels.begin(), images.labels.begin() + 10) ==
          std::vector<std::int32_t>{7, 2, 1, 0, 4, 1, 4, 9, 5, 9});
    std::vector<int> count(10);
    for (const std::int32_t label : images.labels) ++count[static_cast<std::size_t>(label)];
    CHECK(count == std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
    // Statistics of the test images; 0.1307 and 0.3081 are known of the training images.
    const ChannelStatistics statistics = channel_statistics(images);
    CHECK(statistics.mean[0] == Approx(0.1325).margin(5e-5));
    CHECK(statistics.deviation[0] == Approx(0.3105).margin(5e-5));
    CHECK(select(images, 5, ImagePart::training).count() == 8000);
    CHECK(select(images, 5, ImagePart::testing).count() == 2000);
}

TEST_CASE("cifar: records are a label and three planes", "[bare]") {
    const std::string bytes = cifar_record({3}, 10, 20, 30) + cifar_record({9}, 40, 50, '\xff');
    const ImageSet images = read_cifar(image_file("batch.bin", bytes), CifarFormat::cifar10);
    CHECK(images.channels == 3);
    CHECK(images.height == 32);
    CHECK(images.width == 32);
    CHECK(images.classes == 10);
    CHECK(images.labels == std::vector<std::int32_t>{3, 9});
    REQUIRE(images.pixels.size() == 2 * 3 * kPlane);
    std::size_t p = 0;
    for (const int value : {10, 20, 30, 40, 50, 255})
        for (int i = 0; i < kPlane; ++i) REQUIRE(images.pixels[p++] == value);
}

TEST_CASE("cifar: of two labels the fine one is read", "[bare]") {
    const std::string bytes = cifar_record({19, 99}, 1, 2, 3) + cifar_record({0, 7}, 4, 5, 6);
    const ImageSet images = read_cifar(image_file("train.bin", bytes), CifarFormat::cifar100);
    CHECK(images.classes == 100);
    CHECK(images.labels == std::vector<std::int32_t>{99, 7});
    CHECK(images.image(1)[0] == 4);
    CHECK(images.image(1)[3 * kPlane - 1] == 6);
}

TEST_CASE("cifar: hostile files are refused", "[bare]") {
    const std::string ten = cifar_record({3}, 1, 2, 3), hundred = cifar_record({3, 4}, 1, 2, 3);
    for (const CifarFormat format : {CifarFormat::cifar10, CifarFormat::cifar100}) {
        CHECK_THAT(wrong_cifar("", format), ContainsSubstring("empty"));
        const std::string& whole = format == CifarFormat::cifar10 ? ten : hundred;
        CHECK_THAT(wrong_cifar(whole.substr(1), format), ContainsSubstring("no whole number"));
        CHECK_THAT(wrong_cifar(whole + "x", format), ContainsSubstring("no whole number"));
        CHECK_THAT(wrong_cifar(test::gzip(whole), format), ContainsSubstring("ends in .gz"));
    }
    CHECK_THAT(wrong_cifar(hundred, CifarFormat::cifar10),
               ContainsSubstring("3074 bytes are no whole number of CIFAR-10's records of 3073") &&
                   ContainsSubstring("give a binary file of CIFAR-10"));
    CHECK_THAT(wrong_cifar(ten, CifarFormat::cifar100), ContainsSubstring("records of 3074"));
    CHECK_THAT(wrong_cifar(ten + cifar_record({10}, 1, 2, 3), CifarFormat::cifar10),
               ContainsSubstring("the label of record 1 is 10, and CIFAR-10 has 10"));
    CHECK_THAT(wrong_cifar(cifar_record({20, 4}, 1, 2, 3), CifarFormat::cifar100),
               ContainsSubstring("the coarse label of record 0 is 20, and CIFAR-100 has 20"));
    CHECK_THAT(wrong_cifar(cifar_record({4, 100}, 1, 2, 3), CifarFormat::cifar100),
               ContainsSubstring("the fine label of record 0 is 100, and CIFAR-100 has 100"));
}

TEST_CASE("cifar: the mirror's images of CIFAR-10, packed", "[bare]") {
    const std::string name = "images/cifar10/cifar10_test_first100perclass.bin.gz";
    if (!golden::has_data(name)) DEFT_SKIP("no CIFAR-10: set DEFT_DATA_MIRROR");
    const ImageSet images = read_cifar_file(golden::mirror() / name, CifarFormat::cifar10);
    REQUIRE(images.count() == 1000);
    for (std::size_t i = 0; i < 1000; ++i) REQUIRE(images.labels[i] == static_cast<std::int32_t>(i % 10));
    // Photographs are neither black nor white on the whole: planes in the wrong place would show.
    for (const double mean : channel_statistics(images).mean) CHECK((mean > 0.4 && mean < 0.55));
    CHECK_THAT(test::refusal([&] { select(images, 5, ImagePart::training); }),
               ContainsSubstring("class 0 has 100 images for training and 0 for testing"));
    CHECK(select(images, 7, ImagePart::testing).count() == 142);
}

TEST_CASE("images of several files are joined where they are alike", "[bare]") {
    ImageSet images;
    append(images, with_labels({1, 0}, 2), "first");
    append(images, with_labels({1}, 2), "second");
    CHECK(images.count() == 3);
    CHECK(images.classes == 2);
    CHECK(images.labels == std::vector<std::int32_t>{1, 0, 1});
    CHECK(images.pixels == std::vector<std::uint8_t>{0, 1, 0});
    for (const ImageSet& other : {ImageSet{2, 1, 1, 2, {0, 0}, {0}}, ImageSet{1, 2, 1, 2, {0, 0}, {0}},
                                  ImageSet{1, 1, 2, 2, {0, 0}, {0}}, ImageSet{1, 1, 1, 3, {0}, {0}}}) {
        const std::string said = test::refusal(
            ErrorKind::io, [&] { append(images, other, "third"); }, "third: ");
        CHECK_THAT(said, ContainsSubstring("1 x 1 x 1 of 2 classes") && ContainsSubstring("one data set"));
    }
    CHECK(images.count() == 3);
}

TEST_CASE("every k-th image is for testing, the rest for training", "[bare]") {
    const ImageSet images = with_labels({0, 1, 0, 1, 1, 1, 0, 1}, 3);  // no image of class 2 at all
    const ImageSet testing = select(images, 3, ImagePart::testing), training = select(images, 3, ImagePart::training);
    CHECK(testing.pixels == std::vector<std::uint8_t>{2, 5});
    CHECK(testing.labels == std::vector<std::int32_t>{0, 1});
    CHECK(training.pixels == std::vector<std::uint8_t>{0, 1, 3, 4, 6, 7});
    CHECK(training.labels == std::vector<std::int32_t>{0, 1, 1, 1, 0, 1});
    CHECK(training.classes == 3);
    CHECK(testing.image_pixels() == 1);
}

TEST_CASE("a part without one of the classes is refused", "[bare]") {
    const auto wrong_part = [](const std::vector<std::int32_t>& labels, std::int64_t every) {
        return test::refusal([&] { select(with_labels(labels, 3), every, ImagePart::training); });
    };
    CHECK(wrong_part({0, 1, 1, 0}, 2) == "accepted");
    CHECK_THAT(wrong_part({0, 1, 0, 1, 0, 1}, 2),
               ContainsSubstring("class 0 has 3 images for training and 0 for testing"));
    CHECK_THAT(wrong_part({0, 0, 2, 0, 0, 0}, 3), ContainsSubstring("class 2 has 0 images for training and 1 for"));
    CHECK_THAT(wrong_part({0, 1, 1, 0}, 1), ContainsSubstring("at least 2"));
    CHECK_THAT(wrong_part({0, 1, 1, 0}, 0), ContainsSubstring("at least 2"));
    CHECK_THAT(wrong_part({0, 1, 1, 0}, 5), ContainsSubstring("0 for testing"));
}

TEST_CASE("mean and deviation of each channel are those of its pixels", "[bare]") {
    // Two images of two channels and two pixels.
    const ImageSet images{2, 1, 2, 1, {0, 255, 51, 51, 255, 0, 51, 51}, {0, 0}};
    const ChannelStatistics statistics = channel_statistics(images);
    CHECK(statistics.mean[0] == Approx(0.5));
    CHECK(statistics.deviation[0] == Approx(0.5));
    CHECK(statistics.mean[1] == Approx(0.2));
    CHECK(statistics.deviation[1] == 0);
    const ChannelStatistics uneven = channel_statistics(ImageSet{1, 2, 2, 1, {0, 0, 0, 204}, {0}});
    CHECK(uneven.mean[0] == Approx(0.2));
    CHECK(uneven.deviation[0] == Approx(0.8 * std::sqrt(3.0) / 4));
    CHECK(channel_statistics(ImageSet{1, 2, 2, 1, {}, {}}).mean == std::vector<double>{0});
}
