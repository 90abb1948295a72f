// Images normalised, cropped and flipped: by hand, and by what the draws depend on.

#include "engine/data/images/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::engine;

namespace {

// A pixel v becomes v: mean 0 and deviation 1/255.
ChannelStatistics as_they_are(std::size_t channels) {
    return {std::vector<double>(channels, 0), std::vector<double>(channels, 1.0 / 255)};
}

// One image with `channels` channels, pixels 1, 2, ... through all of them.
ImageSet counted_image(std::int64_t channels, std::int64_t height, std::int64_t width) {
    ImageSet images{channels, height, width, 1, {}, {0}};
    for (std::int64_t p = 0; p < images.image_pixels(); ++p) images.pixels.push_back(static_cast<std::uint8_t>(p + 1));
    return images;
}

std::vector<float> augmented(const ImageSet& images, const Augmentation& augmentation, const AugmentationKey& key,
                             std::int64_t i = 0) {
    std::vector<float> out(static_cast<std::size_t>(images.image_pixels()), -1);
    write_augmented(images, i, augmentation, key, out);
    return out;
}

std::vector<float> normalised(const ImageSet& images, std::int64_t i, const ChannelStatistics& channels) {
    std::vector<float> out(static_cast<std::size_t>(images.image_pixels()), -1);
    write_augmented(images, i, {0, false, channels}, {}, out);
    return out;
}

std::vector<float> rounded(std::vector<float> values) {
    for (float& value : values) value = std::round(value * 1024) / 1024;
    return values;
}

// The first draw that is chosen for so.
AugmentationKey draw_with(const Augmentation& augmentation, std::int64_t down, std::int64_t right, bool flipped) {
    for (AugmentationKey key{7, 0}; key.draw < 10'000; ++key.draw) {
        const AugmentationChoice choice = augmentation_choice(augmentation, key);
        if (choice.down == down && choice.right == right && choice.flipped == flipped) return key;
    }
    FAIL("no such draw");
    return {};
}

std::array<std::int64_t, 3> numbers_of(const AugmentationChoice& choice) {
    return {choice.down, choice.right, choice.flipped ? 1 : 0};
}

}  // namespace

TEST_CASE("images for evaluation are normalised by channel and left where they are") {
    ImageSet images = counted_image(2, 1, 2);
    images.pixels = {0, 0, 0, 0, 0, 255, 51, 102};
    images.labels = {0, 0};
    const ChannelStatistics channels{{0.5, 0.2}, {0.25, 0.1}};
    const std::vector<float> out = normalised(images, 1, channels);
    const std::vector<float> expected = {-2, 0, 2, 2};
    for (std::size_t p = 0; p < 4; ++p) CHECK(out[p] == Approx(expected[p]).margin(1e-6));
}

TEST_CASE("a set normalised by its own statistics has mean 0 and deviation 1") {
    ImageSet images{3, 5, 4, 1, {}, std::vector<std::int32_t>(20)};
    for (std::uint32_t p = 0; p < 20 * 60; ++p)
        images.pixels.push_back(static_cast<std::uint8_t>(
            kernels::philox_u32(1, kernels::RandomPurpose::tests, 0, 0, 0, p) % (60 + 60 * (p / 20 % 3))));
    const ChannelStatistics channels = channel_statistics(images);
    std::array<double, 3> sum{}, squares{};
    for (std::int64_t i = 0; i < 20; ++i) {
        const std::vector<float> out = normalised(images, i, channels);
        for (std::size_t p = 0; p < 60; ++p) {
            sum[p % 3] += out[p];
            squares[p % 3] += out[p] * out[p];
        }
    }
    for (std::size_t c = 0; c < 3; ++c) {
        CHECK(sum[c] / 400 == Approx(0).margin(1e-6));
        CHECK(squares[c] / 400 == Approx(1).epsilon(1e-5));
    }
}

TEST_CASE("augmentation that does nothing writes what evaluation reads") {
    const ImageSet images = counted_image(3, 4, 5);
    const Augmentation none{0, false, {{0.1, 0.2, 0.3}, {0.3, 0.2, 0.1}}};
    for (std::int64_t draw = 0; draw < 20; ++draw)
        CHECK(augmented(images, none, {3, draw}) == normalised(images, 0, none.channels));
}

TEST_CASE("crops and flips by hand") {
    // 1 2 3
    // 4 5 6
    // 7 8 9
    const ImageSet images = counted_image(1, 3, 3);
    const Augmentation augmentation{2, true, as_they_are(1)};
    const auto crop = [&](std::int64_t down, std::int64_t right, bool flipped) {
        return rounded(augmented(images, augmentation, draw_with(augmentation, down, right, flipped)));
    };
    CHECK(crop(0, 0, false) == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(crop(0, 0, true) == std::vector<float>{3, 2, 1, 6, 5, 4, 9, 8, 7});
    CHECK(crop(1, 0, false) == std::vector<float>{4, 5, 6, 7, 8, 9, 0, 0, 0});
    CHECK(crop(-2, 0, false) == std::vector<float>{0, 0, 0, 0, 0, 0, 1, 2, 3});
    CHECK(crop(0, 1, false) == std::vector<float>{2, 3, 0, 5, 6, 0, 8, 9, 0});
    CHECK(crop(0, -1, false) == std::vector<float>{0, 1, 2, 0, 4, 5, 0, 7, 8});
    CHECK(crop(0, -1, true) == std::vector<float>{2, 1, 0, 5, 4, 0, 8, 7, 0});
    CHECK(crop(2, -2, false) == std::vector<float>{0, 0, 7, 0, 0, 0, 0, 0, 0});
    CHECK(crop(2, -2, true) == std::vector<float>{7, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("an image's channels are cropped and flipped alike, and rows are not columns") {
    // 1 2 3   7  8  9
    // 4 5 6  10 11 12
    const ImageSet images = counted_image(2, 2, 3);
    const Augmentation augmentation{1, true, as_they_are(2)};
    CHECK(rounded(augmented(images, augmentation, draw_with(augmentation, 1, -1, true))) ==
          std::vector<float>{5, 11, 4, 10, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("padding is black before the normalisation") {
    const ImageSet images = counted_image(2, 1, 2);
    ImageSet black = images;
    std::fill(black.pixels.begin(), black.pixels.end(), std::uint8_t{0});
    Augmentation augmentation{0, false, {{0.5, 0.25}, {0.5, 0.125}}};
    const std::vector<float> zeros = normalised(black, 0, augmentation.channels);
    CHECK(zeros == std::vector<float>{-1, -2, -1, -2});
    const ImageSet square{2, 2, 2, 1, std::vector<std::uint8_t>(8, 255), {0}};
    augmentation.crop_padding = 1;
    const std::vector<float> out = augmented(square, augmentation, draw_with(augmentation, 1, 1, false));
    const std::vector<float> expected = {1, 6, -1, -2, -1, -2, -1, -2};
    for (std::size_t p = 0; p < 8; ++p) CHECK(out[p] == Approx(expected[p]));
}

TEST_CASE("what is chosen depends on the seed and the draw alone") {
    const Augmentation augmentation{4, true, as_they_are(1)};
    // These values are part of the reproducibility contract.
    CHECK(numbers_of(augmentation_choice(augmentation, {1, 0})) == std::array<std::int64_t, 3>{-4, 2, 0});
    CHECK(numbers_of(augmentation_choice(augmentation, {1, 1})) == std::array<std::int64_t, 3>{-1, -4, 0});
    CHECK(numbers_of(augmentation_choice(augmentation, {std::uint64_t{1} << 40, std::int64_t{1} << 40})) ==
          std::array<std::int64_t, 3>{-1, -4, 1});

    // Another image, size or order of draws: the same choices.
    ImageSet images = counted_image(1, 6, 6);
    images.pixels.insert(images.pixels.end(), images.pixels.begin(), images.pixels.end());
    images.labels.push_back(0);
    std::vector<std::vector<float>> forwards, backwards;
    for (std::int64_t draw = 0; draw < 50; ++draw) forwards.push_back(augmented(images, augmentation, {9, draw}));
    for (std::int64_t draw = 50; draw-- > 0;) backwards.push_back(augmented(images, augmentation, {9, draw}, 1));
    std::reverse(backwards.begin(), backwards.end());
    CHECK(forwards == backwards);

    // Another seed or draw, in any of their bits: other choices.
    const auto choices = [&](std::uint64_t seed, std::int64_t first) {
        std::vector<std::array<std::int64_t, 3>> all;
        for (std::int64_t d = 0; d < 20; ++d)
            all.push_back(numbers_of(augmentation_choice(augmentation, {seed, first + d})));
        return all;
    };
    CHECK(choices(9, 0) != choices(10, 0));
    CHECK(choices(9, 0) != choices(9 + (std::uint64_t{1} << 40), 0));
    CHECK(choices(9, 0) != choices(9, 20));
    CHECK(choices(9, 0) != choices(9, std::int64_t{1} << 40));
    // Whether images are flipped moves no crop.
    const Augmentation unflipped{4, false, as_they_are(1)};
    for (std::int64_t draw = 0; draw < 50; ++draw) {
        const AugmentationChoice choice = augmentation_choice(unflipped, {9, draw});
        CHECK_FALSE(choice.flipped);
        CHECK(choice.down == augmentation_choice(augmentation, {9, draw}).down);
        CHECK(choice.right == augmentation_choice(augmentation, {9, draw}).right);
    }
}

TEST_CASE("crops are uniform over all places, and independent of the flip") {
    constexpr std::int64_t kPadding = 2, kPlaces = 2 * kPadding + 1, kDraws = 50'000;
    const Augmentation augmentation{kPadding, true, as_they_are(1)};
    std::array<double, 2 * kPlaces * kPlaces> count{};  // (flipped, down, right)
    for (std::int64_t draw = 0; draw < kDraws; ++draw) {
        const AugmentationChoice choice = augmentation_choice(augmentation, {5, draw});
        REQUIRE(std::max(std::abs(choice.down), std::abs(choice.right)) <= kPadding);
        const std::int64_t place = (choice.down + kPadding) * kPlaces + choice.right + kPadding;
        ++count[static_cast<std::size_t>((choice.flipped ? kPlaces * kPlaces : 0) + place)];
    }
    const double expected = static_cast<double>(kDraws) / static_cast<double>(count.size());
    double chi_square = 0;
    for (const double c : count) chi_square += (c - expected) * (c - expected) / expected;
    CHECK(chi_square < 112);  // 49 degrees of freedom: beyond it once in a million seeds
    CHECK(chi_square > 14);   // and below this
}

TEST_CASE("draws that follow one another are cropped and flipped independently") {
    const Augmentation augmentation{1, true, as_they_are(1)};
    std::array<double, 36> count{};  // of (right, flipped) of two draws
    constexpr std::int64_t kPairs = 36'000;
    const auto state = [&](std::int64_t draw) {
        const AugmentationChoice choice = augmentation_choice(augmentation, {6, draw});
        return static_cast<std::size_t>((choice.right + 1) * 2 + (choice.flipped ? 1 : 0));
    };
    for (std::int64_t pair = 0; pair < kPairs; ++pair) ++count[state(2 * pair) * 6 + state(2 * pair + 1)];
    double chi_square = 0;
    for (const double c : count) chi_square += (c - 1000) * (c - 1000) / 1000;
    CHECK(chi_square < 90);  // 35 degrees of freedom: beyond it once in a million seeds
    CHECK(chi_square > 7);   // and below this
}

TEST_CASE("images are stretched so that centres of pixels lie on centres") {
    // One row 1 2 to twice its length: centres at -1/4, 1/4, 3/4 and 5/4 of the old ones, held within them.
    const ImageSet images = counted_image(1, 1, 2);
    Augmentation augmentation{0, false, as_they_are(1), 4};
    std::vector<float> out(16, -1);
    write_augmented(images, 0, augmentation, {}, out);
    for (std::size_t y = 0; y < 4; ++y)
        CHECK(rounded({out.begin() + static_cast<std::ptrdiff_t>(4 * y),
                       out.begin() + static_cast<std::ptrdiff_t>(4 * y + 4)}) ==
              std::vector<float>{1, 1.25F, 1.75F, 2});
    // Rows alike, and channels apart: 2 x 2 pixels of 1 2 3 4 and 5 6 7 8.
    const ImageSet square = counted_image(2, 2, 2);
    augmentation = {0, false, as_they_are(2), 3};
    out.assign(18, -1);
    write_augmented(square, 0, augmentation, {}, out);
    CHECK(rounded(out) == std::vector<float>{1, 5, 1.5F, 5.5F, 2, 6, 2, 6, 2.5F, 6.5F, 3, 7, 3, 7, 3.5F, 7.5F, 4, 8});
}

TEST_CASE("crops and flips are of the stretched image") {
    const ImageSet images = counted_image(1, 2, 2);
    const Augmentation augmentation{1, true, as_they_are(1), 3};
    std::vector<float> out(9, -1);
    write_augmented(images, 0, augmentation, draw_with(augmentation, 1, -1, true), out);
    // 1 1.5 2 | 2 2.5 3 | 3 3.5 4, one row up and one column to the right, then from right to left.
    CHECK(rounded(out) == std::vector<float>{2.5F, 2, 0, 3.5F, 3, 0, 0, 0, 0});
}

TEST_CASE("augmentation without sense is refused") {
    const ImageSet images = counted_image(2, 4, 6);
    const auto wrong = [&](const Augmentation& augmentation, const std::string& says) {
        CHECK(test::refusal([&] { check_augmentation(augmentation, images); }, says) != "accepted");
    };
    check_augmentation({0, true, as_they_are(2)}, images);
    check_augmentation({3, true, as_they_are(2)}, images);
    wrong({4, true, as_they_are(2)}, "give 0 to 3");
    wrong({-1, true, as_they_are(2)}, "crop padding of -1");
    check_augmentation({5, true, as_they_are(2), 6}, images);
    wrong({6, true, as_they_are(2), 6}, "give 0 to 5");
    wrong({0, true, as_they_are(2), 5}, "cannot be resized to 5 x 5");
    wrong({0, true, as_they_are(1)}, "1 means and 1 deviations for images of 2 channels");
    wrong({0, true, {{0, 0}, {1}}}, "2 means and 1 deviations");
    wrong({0, true, {{0, 0}, {1, 0}}}, "channel 1");
    wrong({0, true, {{0, 0}, {-1, 1}}}, "channel 0");
    wrong({0, true, {{0, 0}, {1, std::numeric_limits<double>::infinity()}}}, "channel 1");
    wrong({0, true, {{std::nan(""), 0}, {1, 1}}}, "channel 0");
}
